// The work of tailrace as a script for Node and Bun: run cat over a file, capture it up to
// the limit, parse each line as JSON, count, fit the result into its limit, write it.
//
//   node work.mjs once FILE    the result to stdout
//   node work.mjs stay FILE    for each line of stdin, the result to the file it names
import { spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const captureLimit = 8388608;
const resultLimit = 9961472;
const viewLimit = 262144;

function capture(file) {
  return new Promise((resolve, reject) => {
    const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "ignore"] });
    const chunks = [];
    let size = 0;
    let cut = false;
    child.stdout.on("data", (chunk) => {
      if (cut) return;
      if (size + chunk.length > captureLimit) {
        chunk = chunk.subarray(0, captureLimit - size);
        cut = true;
        child.kill();
      }
      size += chunk.length;
      chunks.push(chunk);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ text: Buffer.concat(chunks, size).toString("utf8"), code: code ?? 0, cut }));
  });
}

function parse(text) {
  const events = [];
  let logs = 0;
  for (const line of text.split("\n")) {
    if (line.charCodeAt(0) !== 123) continue;
    try {
      const event = JSON.parse(line);
      events.push(event);
      if (event.type === "log") logs++;
    } catch {
      // not an event
    }
  }
  return { events, logs };
}

// budget returns the JSON of a result: the text as a view of at most viewLimit bytes, then
// as much of stdout as fits.
function budget(run, events) {
  const head = (n) => ({ ok: true, command: "cat", exitCode: run.code, outputTruncated: true, data: { events: events.slice(0, n), count: n, cutoff: null } });
  let kept = 0;
  for (let size = 256; kept < events.length; kept++) {
    size += Buffer.byteLength(JSON.stringify(events[kept])) + 1;
    if (size > viewLimit) break;
  }
  const content = `{"content":[{"type":"text","text":${JSON.stringify(JSON.stringify(head(kept)))}}],"structuredContent":`;
  const body = JSON.stringify(head(events.length));
  let stdout = run.text;
  let escaped = JSON.stringify(stdout);
  const room = resultLimit - Buffer.byteLength(content) - Buffer.byteLength(body) - 64;
  for (let size = Buffer.byteLength(escaped); size > room && stdout !== ""; size = Buffer.byteLength(escaped)) {
    stdout = stdout.slice(0, Math.floor((stdout.length * Math.max(room, 0) * 0.98) / size));
    escaped = JSON.stringify(stdout);
  }
  return `${content}${body.slice(0, -1)},"stdout":${escaped}}}`;
}

async function work(file) {
  const run = await capture(file);
  const { events, logs } = parse(run.text);
  return { result: budget(run, events), events: events.length, logs };
}

function write(fd, text) {
  const data = Buffer.from(text, "utf8");
  for (let at = 0; at < data.length; ) at += writeSync(fd, data, at);
}

const [mode, file] = process.argv.slice(2);
if (mode === "once") {
  write(1, (await work(file)).result);
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      const { result, events, logs } = await work(file);
      const fd = openSync(line, "w");
      write(fd, result);
      closeSync(fd);
      process.stdout.write(JSON.stringify({ events, logs }) + "\n");
    } catch (error) {
      process.stdout.write(JSON.stringify({ events: -1, error: String(error) }) + "\n");
    }
  }
}
