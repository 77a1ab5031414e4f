// A compose project on a real engine, by tool calls alone, with tailrace as its own command.
// `make engine` starts the engine, and this by node --test.
import { test, describe, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { binary, resultLimit, captureLimit } from './harness.mjs';

const image = process.env.ENGINE_IMAGE;
const enginePid = Number(process.env.ENGINE_PID);
const shop = `services:
  web:
    image: ${image}
    network_mode: none
    volumes: [./records:/records]
    command: [/logger, -n, "-1", -every, 20ms, -text, "web 😀", -stderr, "5", -record, /records/web]
  db:
    image: ${image}
    network_mode: none
    volumes: [./records:/records]
    command: [/logger, -n, "50", -text, db, -long, "20000", -wait, -record, /records/db]
    environment: {PASSWORD: canary-9f8e}
  burst:
    image: ${image}
    network_mode: none
    profiles: [load]
    command: [/logger, -n, "9000", -text, burst, -long, "1000", -fill, 😀]
  crash:
    image: ${image}
    network_mode: none
    profiles: [load]
    command: [/logger, -n, "3", -text, crash, -exit, "1"]
`;

const logs = 'hack.project.logs.';
const name = { projectName: 'shop' };

describe('a compose project on a real engine', () => {
  let home, root, client;
  /** Calls a tool; both channels say the same. */
  const call = async (tool, args = {}) => {
    const result = await client.callTool({ name: tool, arguments: args }, undefined, { timeout: 180000 });
    assert.ok(Buffer.byteLength(JSON.stringify(result)) <= resultLimit, 'B2');
    const s = result.structuredContent;
    assert.equal(s.ok, !result.isError, 'O1');
    return s;
  };
  const good = async (tool, args) => {
    const s = await call(tool, args);
    assert.ok(s.ok, `${tool}: ${JSON.stringify(s.error)} ${s.stderr.slice(-2000)}`);
    return s;
  };
  const lines = (s, service) => s.data.events.filter((e) => e.type === 'log' && e.entry.service === service).map((e) => e.entry);
  /** What a service says that it wrote, by stream. */
  const record = (service) => {
    const all = readFileSync(join(root, 'records', service), 'utf8').split('\n').filter(Boolean);
    return { stdout: all.filter((l) => l[0] === 'o').map((l) => l.slice(1)), stderr: all.filter((l) => l[0] === 'e').map((l) => l.slice(1)) };
  };
  /** Each line that was read is one that was written, each once, in order, without a gap. */
  const sameLines = (entries, service) => {
    const written = record(service);
    for (const stream of ['stdout', 'stderr']) {
      const got = entries.filter((e) => e.stream === stream).map((e) => e.raw);
      if (got.length === 0) continue;
      const at = written[stream].indexOf(got[0]);
      assert.ok(at >= 0, `${stream} of ${service} begins with a line that was not written: ${got[0].slice(0, 80)}`);
      assert.deepEqual(got, written[stream].slice(at, at + got.length), `${stream} of ${service}`);
    }
    return entries.length;
  };

  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'tailrace-engine-'));
    root = join(home, 'shop');
    mkdirSync(join(root, 'records'), { recursive: true });
    writeFileSync(join(root, 'compose.yaml'), shop);
    const env = { PATH: process.env.PATH, HOME: home, HACK_HOME: join(home, 'hack') };
    for (const key of ['DOCKER_HOST', 'DOCKER_CONFIG', 'DOCKER_BUILDKIT']) env[key] = process.env[key];
    const transport = new StdioClientTransport({ command: binary, args: ['mcp', 'serve'], cwd: root, env, stderr: 'inherit' });
    client = new Client({ name: 'tailrace-engine', version: '1' });
    await client.connect(transport);
    await client.listTools(); // from here on the SDK validates against outputSchema
  });
  after(async () => {
    await client.close();
    rmSync(home, { recursive: true, force: true });
  });

  test('it is registered, started, and seen', async () => {
    await good('hack.project.init', { repoRoot: root });
    const projects = await good('hack.projects.list', { includeUnregistered: true });
    assert.ok(JSON.stringify(projects.data).includes('"shop"'));
    await good('hack.project.up', name);
    const status = await good('hack.project.status', name);
    assert.match(JSON.stringify(status.data), /running/);
    for (const tool of ['doctor', 'instances', 'env.explain', 'env.keys', 'open']) {
      const s = await call(`hack.project.${tool}`, tool === 'env.explain' ? { ...name, key: 'PASSWORD' } : name);
      assert.ok(!JSON.stringify(s).includes('canary-9f8e'), `${tool} shows a value`);
      assert.ok(s.ok || tool === 'open', `${tool}: ${s.stderr}`);
    }
  });

  test('O4 O7 a tail ends at its bounds', async () => {
    const events = await good(`${logs}tail`, { ...name, service: 'web', maxEvents: 20, maxMs: 60000 });
    assert.deepEqual(events.data.cutoff, { bound: 'events', limit: 20 });
    assert.equal(sameLines(lines(events, 'web'), 'web'), 20);
    const time = await good(`${logs}tail`, { ...name, service: 'db', tail: 5, maxMs: 1500 });
    assert.deepEqual(time.data.cutoff, { bound: 'time', limit: 1500 });
    assert.equal(sameLines(lines(time, 'db'), 'db'), 5);
  });

  test('a snapshot has each line once', async () => {
    const s = await good(`${logs}snapshot`, { ...name, tail: 10000 });
    assert.equal(s.data.cutoff, null);
    assert.equal(s.data.events.at(-1).reason, 'eof');
    assert.equal(sameLines(lines(s, 'db'), 'db'), 50);
    assert.ok(sameLines(lines(s, 'web'), 'web') > 20);
    const times = s.data.events.filter((e) => e.type === 'log').map((e) => e.entry.timestamp);
    assert.ok(times.length > 70);
  });

  test('words are run in a container and in a new one', async () => {
    const exec = await good('hack.project.exec', { ...name, service: 'web', cmd: ['/logger', 'echo', '--', '-x', 'a b'] });
    assert.equal(exec.stdout, '-- -x a b\n');
    const run = await call('hack.project.run', { ...name, service: 'db', cmd: ['/logger', 'exit', '3'] });
    assert.equal(run.exitCode, 3);
    assert.equal(run.ok, false);
  });

  test('a restart in a tail loses and repeats nothing', async () => {
    const following = call(`${logs}tail`, { ...name, service: 'web', tail: 1, maxEvents: 10000, maxMs: 12000 });
    await sleep(1000); // so that it has begun; where it has not, it has less to show
    await good('hack.project.restart', name);
    const s = await following;
    assert.ok(s.ok, s.stderr);
    assert.deepEqual(s.data.cutoff, { bound: 'time', limit: 12000 });
    const got = lines(s, 'web');
    sameLines(got, 'web');
    const runs = new Set(got.map((e) => e.raw.split(' ')[2]));
    assert.equal(runs.size, 2, `it spans the restart: ${[...runs]}`);
  });

  test('C3 B2 a burst of more than 8 MiB of emoji, and a container that dies', async () => {
    await good('hack.project.up', { ...name, profiles: 'load' });
    for (let tries = 0; ; tries++) {
      const s = await good(`${logs}snapshot`, { ...name, service: 'burst', tail: 1 });
      if (lines(s, 'burst')[0]?.raw.startsWith('burst 1 9000 ')) break;
      assert.ok(tries < 100, 'the burst does not end');
      await sleep(200);
    }
    const s = await good(`${logs}snapshot`, { ...name, service: 'burst', tail: 10000 });
    assert.deepEqual(s.data.cutoff, { bound: 'bytes', limit: captureLimit });
    assert.ok(!JSON.stringify(s).includes('\ufffd'), 'C3');
    lines(s, 'burst').forEach((e, i) => assert.ok(e.raw.startsWith(`burst 1 ${i + 1} `), 'E4'));
    const crash = await good(`${logs}snapshot`, { ...name, service: 'crash' });
    assert.deepEqual(lines(crash, 'crash').map((e) => e.raw.trim()), ['crash 1 1', 'crash 1 2', 'crash 1 3']);
    assert.equal(crash.data.cutoff, null);
  });

  test('a branch is an instance of its own', async () => {
    await good('hack.project.up', { ...name, branch: 'fix/1' });
    const s = await good(`${logs}tail`, { ...name, branch: 'fix/1', service: 'web', maxEvents: 5, maxMs: 60000 });
    assert.equal(s.data.events[0].project, 'shop--fix-1');
    assert.equal(s.data.events[0].branch, 'fix/1');
    await good('hack.project.down', { ...name, branch: 'fix/1' });
    const none = await good(`${logs}snapshot`, { ...name, branch: 'fix/1' });
    assert.equal(lines(none, 'web').length, 0);
    assert.ok(lines(await good(`${logs}snapshot`, name), 'web').length > 0, 'the base instance lives');
  });

  test('it is taken down', async () => {
    await good('hack.project.down', { ...name, profiles: 'load' });
    const s = await good(`${logs}snapshot`, name);
    assert.equal(s.data.events.filter((e) => e.type === 'log').length, 0);
    assert.equal(s.data.cutoff, null);
  });

  test('O1 O2 an engine that ends in a tail is a backend failure', async () => {
    await good('hack.project.up', name);
    const following = call(`${logs}tail`, { ...name, service: 'web', maxEvents: 10000, maxMs: 60000 });
    await sleep(1000); // so that it has begun; where it has not, it fails all the same
    process.kill(enginePid, 'SIGTERM');
    const s = await following;
    assert.equal(s.ok, false);
    assert.equal(s.error.reason, 'backend_error');
    assert.equal(s.data.cutoff, null);
    assert.match(JSON.stringify(s.data.events), /E_DOCKER_UNAVAILABLE/);
    const snapshot = await call(`${logs}snapshot`, name);
    assert.equal(snapshot.ok, false);
    for (const tool of ['up', 'status']) {
      const after = await call(`hack.project.${tool}`, name);
      assert.equal(after.ok, false, tool);
      assert.match(after.stderr + after.stdout, /engine does not answer/, tool);
    }
  });
});
