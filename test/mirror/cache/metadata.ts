import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import type { Clock } from "../../../src/mirror/cache/clock.ts";
import { MetadataCache } from "../../../src/mirror/cache/metadata-cache.ts";
import type { VersionList } from "../../../src/mirror/versions/version-list.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../../../src/mirror/versions/version-records.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";

export const minute = 60_000;
export const limits = {
  versions: 5 * minute,
  staleFor: 60 * minute,
  notFound: minute / 2,
  answer: 7_000,
  waiters: 100,
};
const widget = providerAddress("registry.terraform.io", "acme", "widget");
export const outage = failure(
  "origin-unreachable",
  "https://a.example/",
  "ECONNREFUSED",
);
export const absence = failure(
  "not-found",
  "registry.terraform.io/acme/widget",
);

export class TestClock implements Clock {
  #wall = Date.parse("2026-01-01T00:00:00Z");
  #monotonic = 1_000;

  now(): Date {
    return new Date(this.#wall);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  pass(ms: number): void {
    this.#wall += ms;
    this.#monotonic += ms;
  }

  /** Sets the wall clock without passing time. */
  step(ms: number): void {
    this.#wall += ms;
  }
}

/** An origin that answers what the test says, and counts. */
class TestOrigin {
  asked = 0;
  known: (VersionList | undefined)[] = [];
  answer: VersionList | Error | Promise<VersionList> = listOf("1.0.0");

  readonly fetch = async (
    known: VersionList | undefined,
  ): Promise<VersionList> => {
    this.asked += 1;
    this.known.push(known && { ...known, revision: 0 });
    const answer = await this.answer;
    if (answer instanceof Error) throw answer;
    return { ...answer, revision: known?.revision ?? 0 };
  };
}

export function listOf(text: string): VersionList {
  const version = parseVersion(text);
  const entry = {
    version,
    protocols: ["5.0"],
    platforms: undefined,
    appeared: undefined,
    listed: true,
  };
  return {
    firstContact: new Date(0),
    versions: new Map([[version, entry]]),
    warnings: [],
    revision: 0,
  };
}

/** A cache of lists of versions over real records; `open` opens another one over the same. */
export async function prepare(
  settings: Partial<typeof limits> = {},
  offline = false,
) {
  const layout = await makeLayout();
  const clock = new TestClock();
  const origin = new TestOrigin();
  const unwritten: string[] = [];
  const stale: number[] = [];
  const open = (nowOffline = offline) => {
    const store = openRecords(layout);
    const cache = new MetadataCache(
      new VersionRecords(store, providerVersionNaming),
      { ...limits, ...settings },
      clock,
      nowOffline,
      (record) => unwritten.push(record),
      (_, age) => stale.push(age),
    );
    return async (
      maxAge = Infinity,
      absentFor = Infinity,
      mayBeOld = false,
    ) => {
      const within = { maxAge, absentFor, mayBeOld };
      const answer = await cache.get(widget, origin.fetch, within);
      return { ...answer, value: { ...answer.value, revision: 0 } };
    };
  };
  return { layout, clock, origin, open, unwritten, stale, get: open() };
}
