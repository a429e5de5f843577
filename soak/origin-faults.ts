import { setTimeout as delay } from "node:timers/promises";
import {
  alteredByte,
  close,
  cut,
  cutChunked,
  delayed,
  excess,
  hang,
  html,
  notJson,
  slow,
  status,
  type Fault,
} from "../test/fakes/faults.ts";
import type { Registry } from "../test/fakes/registry.ts";
import type { RequestKind } from "../test/fakes/request-log.ts";
import { pick } from "./pick.ts";

const kinds: readonly RequestKind[] = [
  "discovery",
  "versions",
  "package",
  "checksums",
  "signature",
  "archive",
];

const any: readonly Fault[] = [
  status(500),
  status(503),
  status(429, { headers: { "Retry-After": "1" } }),
  html,
  close,
  cut(50),
  cutChunked(50),
  hang,
  delayed(800),
  excess(10),
];
const documents = [...any, notJson];
const archives = [...any, alteredByte(1000), cut(200_000), slow(200_000)];

/** Breaks the origin now and then, for one kind of request or all, until `end`. */
export async function spoil(
  registry: Registry,
  end: AbortSignal,
): Promise<void> {
  try {
    while (!end.aborted) {
      await delay(2_000 + 4_000 * Math.random(), undefined, { signal: end });
      const all = Math.random() < 0.2;
      for (const kind of all ? kinds : [pick(kinds)])
        registry.script(kind, pick(kind === "archive" ? archives : documents));
      await delay(500 + 2_500 * Math.random(), undefined, { signal: end });
      registry.heal();
    }
  } catch {
    registry.heal();
  }
}
