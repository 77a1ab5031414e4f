// Every tool and the prompt, once each, as the TypeScript client sees them, over both
// transports. The backend is a stub that notes the arguments it was started with.
import { test, describe, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { binary, here, project } from './harness.mjs';

const token = 'token-of-the-node-tests-0123456789';
const canaries = Array.from({ length: 10 }, (_, i) => `canary-${i}-${'x7Kq'.repeat(i + 1)}`);

/** A project with a stub of all commands. Its servers' logs are collected. */
function stubbed(more = {}) {
  const p = project();
  p.log = '';
  p.argv = join(p.root, 'argv');
  Object.assign(p.env, { HACK_MCP_COMMAND: join(here, 'stubs/hack.py'), ARGV: p.argv, ...more });
  writeFileSync(p.argv, '');
  /** The arguments of each start since the last look. */
  p.started = () => {
    const lines = readFileSync(p.argv, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
    writeFileSync(p.argv, '');
    return lines;
  };
  return p;
}

async function overStdio(p) {
  const transport = new StdioClientTransport({ command: binary, args: ['mcp', 'serve', '--log-level', 'debug'], cwd: p.root, env: p.env, stderr: 'pipe' });
  transport.stderr.on('data', (b) => (p.log += b));
  const client = new Client({ name: 'tailrace-e2e', version: '1' });
  await client.connect(transport);
  return { client, close: () => client.close(), metrics: async () => '' };
}

async function overHTTP(p) {
  writeFileSync(join(p.root, 'token'), token, { mode: 0o600 });
  const server = spawn(binary, ['mcp', 'serve', '--http', '127.0.0.1:0', '--token-file', join(p.root, 'token'), '--log-level', 'debug'], {
    cwd: p.root, env: p.env, stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(server, 'exit');
  const url = await new Promise((resolve, reject) => {
    ended.then(() => reject(new Error('the server did not start')));
    createInterface(server.stderr).on('line', (line) => {
      const at = line.match(/http:\/\/\S+\/mcp$/);
      if (at) resolve(new URL(at[0]));
      p.log += line + '\n';
    });
  });
  const headers = { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const client = new Client({ name: 'tailrace-e2e', version: '1' });
  await client.connect(transport);
  return {
    client,
    metrics: async () => (await fetch(new URL('/metrics', url), { headers })).text(),
    close: async () => {
      await transport.terminateSession();
      await client.close();
      server.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null], 'S2: the exit of the server');
      assert.ok(!p.log.includes(token), 'S9: the token is in the log');
    },
  };
}

// What document 002 has of each: arguments, the command line, and the data of the result.
const calls = {
  'hack.projects.list': [{ filter: 'shop' }, ['projects', '--json', '--project', 'shop'], (d) => assert.equal(d.projects[0].name, 'shop')],
  'hack.project.status': [{ branch: 'fix-1', profiles: ['a', 'b'] }, ['ps', '--branch', 'fix-1', '--profile', 'a,b', '--json'], (d) => assert.equal(d.items[0].Service, 'web')],
  'hack.project.up': [{ profiles: 'dev' }, ['up', '--profile', 'dev', '--detach']],
  'hack.project.down': [{}, ['down']],
  'hack.project.restart': [{}, ['restart']],
  'hack.project.run': [{ service: 'api', cmd: ['--force', '-x'], timeoutMs: 60000 }, ['run', 'api', '--', '--force', '-x'], (d) => assert.deepEqual(d, { limits: { timeoutMs: 60000 } })],
  'hack.project.exec': [{ service: 'db', cmd: ['psql', '-c', 'select 1'] }, ['exec', 'db', '--', 'psql', '-c', 'select 1'], (d) => assert.ok(d.limits.timeoutMs > 0)],
  'hack.project.open': [{ target: 'api' }, ['open', '--json', 'api'], (d) => assert.deepEqual(d, { url: 'https://api.shop.test' })],
  'hack.project.init': [{ path: '.', name: '-n' }, (root) => ['init', '--path', root, '--auto', '--name=-n']],
  'hack.project.doctor': [{ path: '.' }, (root) => ['doctor', '--path', root, '--json'], (d) => assert.deepEqual(d.data.checks, [])],
  'hack.project.logs.snapshot': [{ service: 'web', tail: 2 }, null, (d) => assert.deepEqual([d.count, d.cutoff, d.events.length], [5, null, 5])],
  'hack.project.logs.tail': [{ maxEvents: 2 }, null, (d) => assert.deepEqual([d.count, d.cutoff, d.stop_reason], [3, { bound: 'events', limit: 2 }, 'max_events'] /* the start event is one of none */)],
  'hack.project.env.explain': [{ key: 'API_KEY', target: 'compose' }, ['env', 'explain', '--target', 'compose', '--json', 'API_KEY'], (d) => {
    assert.equal(d.source, 'a.json');
    assert.ok(!('value' in d));
  }],
  'hack.project.env.keys': [{ env: 'prod' }, ['env', 'list', '--env', 'prod', '--json'], (d) => {
    assert.deepEqual(d.keys.map((k) => k.key), ['API_KEY']);
    assert.deepEqual(d.missing_required, ['B']);
  }],
  'hack.project.instances': [{ projectName: 'shop' }, ['projects', '--json', '--project', 'shop'], (d) => assert.deepEqual(d.instances.map((i) => i.branch), [null, 'fix-1'])],
};

/** Registers the project as shop with the program itself. */
async function register(p) {
  const init = spawn(binary, ['init', '--name', 'shop'], { cwd: p.root, env: p.env, stdio: 'ignore' });
  assert.deepEqual(await once(init, 'exit'), [0, null]);
}

for (const [how, connect] of [['stdio', overStdio], ['HTTP', overHTTP]]) {
  describe(`every tool over ${how}`, () => {
    let p, session;
    before(async () => {
      p = stubbed();
      await register(p);
      session = await connect(p);
    });
    after(async () => {
      await session.close();
      p.remove();
    });

    test('lists 15 tools and the prompt', async () => {
      const { tools } = await session.client.listTools();
      assert.deepEqual(tools.map((t) => t.name).sort(), Object.keys(calls).sort());
      for (const t of tools) {
        assert.ok(t.title && t.description && t.outputSchema, t.name);
        assert.equal(typeof t.annotations.readOnlyHint, 'boolean', t.name);
      }
      const { prompts } = await session.client.listPrompts();
      assert.deepEqual(prompts.map((x) => x.name), ['hack-init']);
      const got = await session.client.getPrompt({ name: 'hack-init', arguments: { mode: 'new', projectName: 'shop' } });
      assert.match(got.messages[0].content.text, /shop/);
    });

    for (const [name, [args, argv, data]] of Object.entries(calls)) {
      test(`S5 O12 ${name}`, async () => {
        p.started();
        const result = await session.client.callTool({ name, arguments: args });
        const s = result.structuredContent;
        assert.equal(s.ok, true, JSON.stringify(s));
        assert.equal(s.exitCode, s.exitCode | 0);
        assert.equal(result.isError ?? false, false);
        assert.deepEqual(JSON.parse(result.content[0].text), s, 'B2: both channels');
        const started = p.started();
        assert.equal(started.length, 1);
        const want = typeof argv === 'function' ? argv(p.root) : argv;
        if (want) assert.deepEqual(started[0], want);
        else assert.equal(started[0][0], 'logs');
        if (data) data(s.data);
        else assert.equal(s.data, undefined);
      });
    }
  });

  describe(`canaries over ${how}`, () => {
    for (const fail of ['', '1']) {
      test(`S6 S9 no secret is repeated${fail && ' by a failure'}`, async () => {
        const p = stubbed({ CANARIES: JSON.stringify(canaries), FAIL: fail });
        const session = await connect(p);
        const found = (text, where) => {
          for (const c of canaries) assert.ok(!text.includes(c), `${c} is in ${where}`);
        };
        try {
          for (const name of ['hack.project.env.explain', 'hack.project.env.keys']) {
            const result = await session.client.callTool({ name, arguments: calls[name][0] });
            assert.equal(result.structuredContent.ok, !fail);
            found(JSON.stringify(result), `the result of ${name}`);
          }
          // Arguments of a command are the caller's own: they come back in `command` alone.
          await session.client.callTool({ name: 'hack.project.exec', arguments: { service: 'db', cmd: canaries } });
          for (const [name, args] of Object.entries({
            'hack.project.exec': { service: canaries[0] + '!', cmd: [canaries[1]] },
            'hack.project.status': { branch: `${canaries[2]}/` },
            'hack.project.env.explain': { key: `1${canaries[3]}` },
            'hack.project.up': { projectName: canaries[4], path: canaries[5] },
            'hack.project.logs.tail': { [canaries[6]]: canaries[7], since: canaries[8] },
            [canaries[9]]: {},
          })) {
            // The validator of the client does not repeat an error of the protocol.
            const refused = await session.client.callTool({ name, arguments: args }).catch((e) => ({ error: e.message }));
            assert.ok(refused.error || !refused.structuredContent.ok, name);
            found(JSON.stringify(refused), `the refusal of ${name}`);
          }
          found(await session.metrics(), 'the metrics');
        } finally {
          await session.close();
        }
        found(p.log, 'the log of the server');
        const audit = readFileSync(join(p.env.HACK_HOME, 'mcp-audit.log'), 'utf8');
        assert.equal(audit.trim().split('\n').length, 3, 'S9: a line for each command that was run');
        found(audit, 'the audit log');
        p.remove();
      });
    }
  });
}
