import { pino, type Level, type LoggerOptions } from "pino";
import { expect, it } from "vitest";
import { isoTime } from "../../src/telemetry/iso-time.ts";
import { redactTickets } from "../../src/telemetry/redaction.ts";
import { RepeatedLines } from "../../src/telemetry/repeated-lines.ts";

const signature = "A".repeat(43);
const ticket = `/a/1790000000000.bmFtZQ.${signature}/demo.zip`;
const own = { requestId: 'a"b', bytes: 12, ms: 0 };

/** The last line that a logger and the repeated lines write, without its time. */
function writeBoth(level: Level, common: object) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: redactTickets },
  };
  const repeated = new RepeatedLines(options, destination);
  pino(options, destination).info({ ...own, ...common }, "request");
  const [expected] = lines.splice(0);
  for (let n = 0; n < 3; n++)
    repeated.write(repeated.formOf(common, "request"), own);
  return { expected: read(expected), lines: lines.map(read) };
}

function read(line: string | undefined) {
  if (line === undefined) return undefined;
  expect(line).toMatch(/^[^\n]+\n$/);
  const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return rest;
}

it.each([
  ["plain values", { path: "/a", status: 200, complete: true }],
  ["nothing", {}],
  ["absent and nested values", { token: undefined, leftOut: { denied: 2 } }],
  ["a client's quotes and line breaks", { userAgent: '","ms":"0"\n\r\\' }],
  ["a client's NUL", { userAgent: "a\0b\0" }],
  ["a signed path", { path: ticket, userAgent: `${ticket}"` }],
])("are what the logger writes for %s", (_, common) => {
  const { expected, lines } = writeBoth("info", common);
  expect(lines).toEqual([expected, expected, expected]);
  expect(JSON.stringify(lines)).not.toContain(signature);
});

it("are not written below the level of the log", () => {
  expect(writeBoth("warn", {})).toEqual({ expected: undefined, lines: [] });
});

it("keep apart what differs in anything but what is put in", () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const repeated = new RepeatedLines({}, destination);
  const ways = [{ path: "/a" }, { path: "/a", token: "b" }, { token: "/a" }];
  for (const common of [...ways, ...ways])
    repeated.write(repeated.formOf(common, "request"), {});
  expect(
    new Set(lines.map((line) => line.replace(/"time".{27}/, ""))).size,
  ).toBe(ways.length);
});
