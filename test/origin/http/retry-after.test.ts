import { expect, it } from "vitest";
import { parseRetryAfter } from "../../../src/origin/http/http-failure.ts";

const now = new Date("2026-01-01T00:00:00Z");
const minutes = 60_000;

it.each([
  ["0", 1_000],
  ["1", 1_000],
  ["30", 30_000],
  ["300", 5 * minutes],
  ["3600", 5 * minutes],
  ["9".repeat(400), 5 * minutes],
])("takes %s as seconds, from one to five minutes' worth", (text, ms) => {
  expect(parseRetryAfter(text, undefined, now)).toBe(ms);
});

it.each([
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["Thursday, 01-Jan-26 00:00:30 GMT", 30_000],
  ["Thu, 01 Jan 2026 00:00:00 GMT", 1_000],
  ["Mon, 01 Jan 1990 00:00:00 GMT", 1_000],
  ["Fri, 01 Jan 2038 00:00:00 GMT", 5 * minutes],
])("takes %s as a date, within the same bounds", (text, ms) => {
  expect(parseRetryAfter(text, undefined, now)).toBe(ms);
});

it("compares a date with the answer's own, not with our clock", () => {
  const until = "Fri, 01 Jan 2038 00:00:30 GMT";
  const answered = "Fri, 01 Jan 2038 00:00:00 GMT";
  expect(parseRetryAfter(until, answered, now)).toBe(30_000);
  expect(parseRetryAfter(until, "yesterday", now)).toBe(5 * minutes);
});

it.each(["", "-1", "1.5", "1e3", "soon", "30 seconds", "Infinity"])(
  "makes nothing of %j",
  (text) => {
    expect(parseRetryAfter(text, undefined, now)).toBeUndefined();
  },
);
