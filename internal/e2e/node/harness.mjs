// What the tests share: a client on default limits over stdio, with a tee on the bytes
// that it reads.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export const here = dirname(fileURLToPath(import.meta.url));
export const binary = process.env.TAILRACE_BINARY ?? join(here, '../../../bin/tailrace');
export const backend = join(here, 'stubs/backend.py');

export const captureLimit = 8388608;
export const resultLimit = 9961472;
export const viewLimit = 262144;
export const clientBuffer = 10 * 1024 * 1024;

export const snapshot = 'hack.project.logs.snapshot';
export const tail = 'hack.project.logs.tail';

// The tail argument picks what the stub writes.
export const kinds = { emoji: 1, escapes: 2, complete: 3, small: 4, text: 5, html: 6, failing: 7 };

/** A project of its own in a temporary folder, with a home of its own. */
export function project() {
  const root = mkdtempSync(join(tmpdir(), 'tailrace-node-'));
  writeFileSync(join(root, 'tailrace.yaml'), 'version: 1\nsources: {}\n');
  return {
    root,
    env: { PATH: process.env.PATH, HOME: root, HACK_HOME: join(root, 'home'), HACK_MCP_COMMAND: backend },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Connects a client. Its `lines` are the sizes of the lines that it read, LF included. */
export async function connect(p) {
  const transport = new StdioClientTransport({ command: binary, args: ['mcp', 'serve'], cwd: p.root, env: p.env, stderr: 'pipe' });
  const client = new Client({ name: 'tailrace-e2e', version: '1' });
  const lines = [];
  const errors = [];
  client.onerror = (e) => errors.push(e);
  let open = 0;
  const connected = client.connect(transport);
  // The process exists as soon as connect has run up to its first await.
  const tee = setInterval(() => {
    if (!transport._process?.stdout) return;
    clearInterval(tee);
    transport._process.stdout.on('data', (chunk) => {
      for (let at = 0; at < chunk.length; ) {
        const lf = chunk.indexOf(10, at);
        if (lf < 0) {
          open += chunk.length - at;
          break;
        }
        lines.push(open + lf + 1 - at);
        open = 0;
        at = lf + 1;
      }
    });
  }, 1);
  await connected;
  await client.listTools(); // from here on the SDK validates against outputSchema
  return { client, lines, errors, close: () => client.close() };
}

/** Calls a tool and checks what holds for every result. */
export async function call(session, tool, kind, args = {}) {
  const result = await session.client.callTool({ name: tool, arguments: { tail: kinds[kind], ...args } }, undefined, { timeout: 60000 });
  const size = Buffer.byteLength(JSON.stringify(result));
  assert.ok(size <= resultLimit, `B2: the result has ${size} bytes`);
  assert.ok(Math.max(...session.lines) <= clientBuffer - 65535, `B2: a line of ${Math.max(...session.lines)} bytes`);
  const s = result.structuredContent;
  const v = JSON.parse(result.content[0].text);
  for (const [name, p] of [['structuredContent', s], ['content', v]]) {
    assert.equal(p.ok, !result.isError, `O1: ok of ${name}`);
    if (p.data?.events) assert.equal(p.data.count, p.data.events.length, `E7: count of ${name}`);
  }
  if (v.outputTruncated && Buffer.byteLength(result.content[0].text) > viewLimit && size > resultLimit / 2) {
    assert.fail(`B3: the view has ${Buffer.byteLength(result.content[0].text)} bytes`);
  }
  s.data?.events?.filter((e) => e.type === 'log').forEach((e, i) => assert.equal(e.n, i, 'E4: order of the events'));
  return { result, s, v, text: result.content[0].text };
}
