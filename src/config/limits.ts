import {
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
} from "../address/units.ts";

/** Beyond this, timers fire at once instead of late. */
const longestTimer = 2 ** 31 - 1;

const unlimited = Number.MAX_SAFE_INTEGER;

interface Limit {
  readonly unit: "size" | "duration" | "count";
  readonly value: number;
  readonly least: number;
  readonly most: number;
}

const size = (text: string, least = 1): Limit => ({
  unit: "size",
  value: parseSize(text),
  least,
  most: unlimited,
});

const duration = (text: string, least = 1): Limit => ({
  unit: "duration",
  value: parseDuration(text),
  least,
  most: longestTimer,
});

const count = (value: number, least: number, most = unlimited): Limit => ({
  unit: "count",
  value,
  least,
  most,
});

/** The limits that an operator may have a reason to set: bytes, milliseconds or a number of things, with their defaults. */
export const limitTable = {
  connections: count(4096, 1),
  archive: size("2GiB"),
  gitRepository: size("1GiB"),
  gitMemory: size("512MiB", 2 ** 26),
  firstByte: duration("10s"),
  answer: duration("7s"),
  rate: size("64KiB", 0),
  fillsPerOrigin: count(8, 1, 64),
  stop: duration("25s", 0),
} as const satisfies Readonly<Record<string, Limit>>;

/** Sizes in bytes (`rate` in bytes a second), durations in milliseconds. */
export type Limits = {
  readonly [Name in keyof typeof limitTable]: number;
};

/** The value of one limit as the YAML has it: number or text with a unit. */
export function parseLimit(limit: Limit, text: string): number {
  const value = parseInUnit(limit, text);
  if (!(value >= limit.least && value <= limit.most))
    throw new RangeError(`${text} is out of range.`);
  return value;
}

/** The default as the YAML has it. */
export function defaultOf(limit: Limit): string | number {
  return limit.unit === "count" ? limit.value : formatLimit(limit, limit.value);
}

function formatLimit(limit: Limit, value: number): string {
  if (limit.unit === "size") return formatSize(value);
  return limit.unit === "duration" ? formatDuration(value) : String(value);
}

/** Describes the values that a limit takes, with the default as the example. */
export function describeLimit(limit: Limit): string {
  const noun = { size: "size", duration: "duration", count: "whole number" };
  const least = formatLimit(limit, limit.least);
  const most = describeMost(limit);
  return `a ${noun[limit.unit]} of at least ${least}${most} such as ${formatLimit(limit, limit.value)}`;
}

function describeMost(limit: Limit): string {
  if (limit.unit === "duration") return " and at most 24d";
  if (limit.most === unlimited) return "";
  return ` and at most ${formatLimit(limit, limit.most)}`;
}

function parseInUnit(limit: Limit, text: string): number {
  if (limit.unit === "size") return parseSize(text);
  if (limit.unit === "duration") return parseDuration(text);
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
}
