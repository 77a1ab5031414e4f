import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { binary, here, kinds, project, snapshot } from './harness.mjs';

const run = promisify(execFile);
const inspector = join(here, 'node_modules/.bin/mcp-inspector');

async function inspect(p, ...args) {
  const { stdout } = await run(inspector, ['--cli', binary, 'mcp', 'serve', ...args], {
    cwd: p.root, env: p.env, maxBuffer: 64 << 20, timeout: 60000,
  });
  return JSON.parse(stdout);
}

test('the Inspector lists the tools and calls one', async () => {
  const p = project();
  try {
    const { tools } = await inspect(p, '--method', 'tools/list');
    assert.ok(tools.some((t) => t.name === snapshot && t.outputSchema && t.annotations.readOnlyHint));
    const small = await inspect(p, '--method', 'tools/call', '--tool-name', snapshot, '--tool-arg', `tail=${kinds.small}`);
    assert.equal(small.structuredContent.data.count, 5);
    const large = await inspect(p, '--method', 'tools/call', '--tool-name', snapshot, '--tool-arg', `tail=${kinds.emoji}`);
    assert.deepEqual(large.structuredContent.data.cutoff, { bound: 'bytes', limit: 8388608 });
  } finally {
    p.remove();
  }
});
