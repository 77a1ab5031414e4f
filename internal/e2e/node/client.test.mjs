import { test, before, after, describe } from 'node:test';
import assert from 'node:assert/strict';
import { call, captureLimit, connect, project, resultLimit, snapshot, tail, viewLimit } from './harness.mjs';

const view = { bound: 'bytes', limit: viewLimit };

/** How many whole events of the emoji stream lie in the captured prefix, the start event included. */
function captured() {
  let left = captureLimit - '{"type":"start","ts":"2026-01-02T03:04:05.000Z"}\n'.length;
  for (let n = 0; ; n++) {
    left -= `{"type":"log","ts":"2026-01-02T03:04:05.000Z","n":${n},"entry":{"message":""}}\n`.length + 1000;
    if (left < 0) return n + 1;
  }
}

const many = { maxEvents: 10000, maxMs: 60000 };

describe('the TypeScript client on default limits', () => {
  let p, session;
  before(async () => {
    p = project();
    session = await connect(p);
  });
  after(async () => {
    await session.close();
    assert.deepEqual(session.errors, [], 'B10: the client saw transport errors');
    p.remove();
  });
  const usable = async () => {
    await session.client.ping();
    const { s } = await call(session, snapshot, 'small');
    assert.equal(s.data.count, 5, 'B10: the session is usable');
  };

  for (const [tool, args] of [[snapshot, {}], [tail, many]]) {
    for (const kind of ['emoji', 'escapes']) {
      test(`C1 C3 B2 ${tool} above 8 MiB: ${kind}`, async () => {
        const { s, v, text } = await call(session, tool, kind, args);
        assert.equal(s.ok, true);
        assert.equal(s.outputTruncated, true, 'C5');
        assert.ok(!JSON.stringify(s.data.events).includes('\ufffd'), 'C3: no code point was split');
        assert.ok(!s.stdout.includes('\ufffd'), 'C3: no code point was split in stdout');
        if (kind === 'emoji') {
          assert.deepEqual(s.data.cutoff, { bound: 'bytes', limit: captureLimit }, 'O7');
          assert.equal(s.data.count, captured(), 'O4: every event of the captured prefix is there');
        }
        assert.deepEqual(v.data.cutoff, view, 'B6');
        assert.ok(Buffer.byteLength(text) <= viewLimit, 'B3');
        if (tool === tail) assert.equal(s.data.stop_reason, 'output_limit', 'O8');
        await usable();
      });
    }
  }

  test('B3 B4 a complete stream that goes over the message limit keeps every event', async () => {
    const { result, s, v } = await call(session, snapshot, 'complete');
    assert.equal(result.isError, undefined);
    assert.equal(s.data.cutoff, null, 'B5: only stdout was cut');
    assert.equal(s.outputTruncated, true, 'B4');
    assert.match(s.stderr, /^[^\n]+\n$/, 'B4: one note line');
    assert.equal(s.data.events.at(-1).type, 'end');
    assert.deepEqual(v.data.cutoff, view, 'B6');
    await usable();
  });

  test('B2 a small result is returned unchanged, both channels the same', async () => {
    const { s, v } = await call(session, snapshot, 'small');
    assert.deepEqual(s, v);
    assert.equal('outputTruncated' in s, false);
    assert.equal(s.stderr, '');
    assert.equal(s.data.events[1].entry.message, 'hi <b>&</b> \u{1f680}', 'B2');
  });

  test('B4 a result whose text alone is cut', async () => {
    const { s, v } = await call(session, snapshot, 'text');
    assert.equal('outputTruncated' in s, false, 'B4');
    assert.equal(s.stderr, '');
    assert.equal(s.data.cutoff, null);
    assert.equal(v.outputTruncated, true);
    assert.deepEqual(v.data.cutoff, view);
    await usable();
  });

  test('B2 <, >, & and U+2028 cost what they are', async () => {
    const { s } = await call(session, snapshot, 'html');
    assert.equal(s.data.cutoff, null);
    assert.equal('outputTruncated' in s, false, 'B4: the structured part fits untouched');
    await usable();
  });

  test('B5 a backend failure stays a failure when it is cut', async () => {
    const { result, s, v } = await call(session, snapshot, 'failing');
    assert.equal(result.isError, true);
    for (const p of [s, v]) {
      assert.equal(p.data.cutoff, null);
      assert.deepEqual([p.error.code, p.error.reason], ['E_UNEXPECTED', 'backend_error']);
    }
    assert.ok(v.data.count < s.data.count);
    await usable();
  });

  test('O11 arguments that do not fit are refused as a result', async () => {
    const result = await session.client.callTool({ name: snapshot, arguments: { tail: 0 } });
    assert.equal(result.isError, true);
    assert.equal(result.structuredContent.spawned, false);
    await usable();
  });

  test('B10 several large results at once with 80 small ones behind them', async () => {
    const large = ['emoji', 'complete', 'escapes', 'emoji'].map((kind) => call(session, snapshot, kind));
    const small = [];
    const settled = Promise.all(large);
    let pending = true;
    settled.finally(() => (pending = false)).catch(() => {});
    while (pending || small.length < 80) {
      small.push(session.client.ping());
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (small.length >= 80 && !pending) break;
      if (small.length > 4000) break;
    }
    const results = await settled;
    await Promise.all(small);
    assert.equal(results.length, 4);
    for (const { s } of results) assert.equal(s.ok, true);
    await usable();
  });

  test('S2 an aborted call leaves the session usable', async () => {
    const abort = new AbortController();
    const running = session.client.callTool({ name: snapshot, arguments: { tail: 1 } }, undefined, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await assert.rejects(running);
    await usable();
  });

  test('S8 progress reaches the client', async () => {
    const seen = [];
    await session.client.callTool({ name: snapshot, arguments: { tail: 4 } }, undefined, { onprogress: (x) => seen.push(x.progress) });
    assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
  });

  test('no line that was read came near the client buffer', () => {
    assert.ok(session.lines.length > 20, 'the tee saw the session');
    assert.ok(Math.max(...session.lines) > resultLimit - 2000, 'the limit is used');
  });
});
