// Runs the conformance suite of the protocol against the built server, over HTTP. The suite
// sends no bearer token, so a proxy on loopback adds it and passes all else on as it is.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';

const binary = process.env.TAILRACE_BINARY;
assert.ok(binary, 'set TAILRACE_BINARY to the built program');
assert.ok(process.versions.node.split('.')[0] >= 22, 'the suite needs Node 22, which npm installs here');

const dir = mkdtempSync(join(tmpdir(), 'tailrace-conformance-'));
const token = randomBytes(32).toString('hex');
writeFileSync(join(dir, 'token'), token, { mode: 0o600 });

const server = spawn(binary, ['mcp', 'serve', '--http', '127.0.0.1:0', '--token-file', join(dir, 'token')], {
  cwd: dir,
  env: { PATH: process.env.PATH, HOME: dir, HACK_HOME: join(dir, 'hack') },
  stdio: ['ignore', 'ignore', 'pipe'],
});
const ended = once(server, 'exit');

/** The address that the server says it serves at. */
async function address() {
  for await (const line of createInterface(server.stderr)) {
    const at = line.match(/http:\/\/(\S+?)\/mcp$/);
    if (at) return new URL(at[0]);
  }
  throw new Error('the server did not start');
}

function proxyTo(target) {
  return http.createServer((request, response) => {
    const forward = http.request({
      host: target.hostname,
      port: target.port,
      path: request.url,
      method: request.method,
      headers: { ...request.headers, authorization: `Bearer ${token}` },
    }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    forward.on('error', () => response.destroy());
    response.on('close', () => forward.destroy());
    request.pipe(forward);
  });
}

let code = 1;
try {
  const proxy = proxyTo(await address());
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const suite = spawn(process.execPath, [
    join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'),
    'server', '--suite', 'all', '--url', `http://127.0.0.1:${proxy.address().port}/mcp`,
    '--expected-failures', join(import.meta.dirname, 'expected-failures.yml'),
  ], { stdio: 'inherit' });
  [code] = await once(suite, 'exit');
  proxy.closeAllConnections();
  proxy.close();
} finally {
  server.kill('SIGTERM');
  const [status] = await ended;
  rmSync(dir, { recursive: true });
  if (status !== 0) {
    console.error(`the server ended with ${status}`);
    code = 1;
  }
}
process.exit(code ?? 1);
