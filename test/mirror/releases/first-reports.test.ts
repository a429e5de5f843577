import { beforeAll, describe, expect, it } from "vitest";
import {
  admitReports,
  contradictsReports,
  listChangedReports,
  reportsOn,
  type Reports,
} from "../../../src/mirror/releases/reported-hashes.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";
import { h1Of } from "../../scenes/release-sketches.ts";
import { content as contentOf } from "../../trust/releases.ts";

/** Such as `xy`, or `xy>z` where z is reported of the same archive since; undefined: nothing is. */
type Said = string | undefined;

const hashes = (letters: string) => Array.from(letters, h1Of);

/** A report on the archive of a letter. */
function reportsOf(said: Said, archive = "a"): Reports {
  if (said === undefined) return new Map();
  const [first = "", since] = said.split(">");
  const sha256 = contentOf(`linux=${archive}`).get("linux");
  const report = { packageHashes: hashes(first), size: undefined, sha256 };
  const offered = since === undefined ? {} : { offered: hashes(since) };
  return new Map([["linux", { ...report, ...offered }]]);
}

function sayOf(reports: Reports): Said {
  const report = reports.get("linux");
  if (report === undefined) return undefined;
  const letters = (all: readonly string[] = []) =>
    all.map((hash) => hash[3]).join("");
  const since = report.offered && `>${letters(report.offered)}`;
  return `${letters(report.packageHashes)}${since ?? ""}`;
}

/** A release whose content was admitted with a report, and what is reported now. */
function admit(pinned: string | undefined, known: Said, now: Said, of = "a") {
  const first = {
    trust: {
      pinned: pinned === undefined ? undefined : { content: contentOf(pinned) },
    },
    reported: reportsOf(known),
  };
  return sayOf(admitReports(first, contentOf(`linux=${of}`), reportsOf(now)));
}

describe("an h1 that a registry reports", () => {
  it.each<[string, string | undefined, Said, Said, Said]>([
    ["with the first admission counts", undefined, undefined, "x", "x"],
    ["before any admission counts as it was last", undefined, "x", "y", "y"],
    ["again counts as before", "linux=a", "x", "x", "x"],
    ["no longer still counts", "linux=a", "x", undefined, "x"],
    ["otherwise does not count, and is noted", "linux=a", "x", "y", "x>y"],
    ["with more than at first is noted", "linux=a", "x", "xy", "x>xy"],
    ["with less than at first changes nothing", "linux=a", "xy", "x", "xy"],
    ["after the admission does not count", "linux=a", undefined, "x", ""],
    ["after an empty report does not count", "linux=a", "", "x", ""],
    ["of a platform that was added counts", "darwin=b", undefined, "x", "x"],
  ])("%s", (_, pinned, known, now, expected) => {
    expect(admit(pinned, known, now)).toBe(expected);
  });

  it("of other content than is pinned takes nothing from what counts", () => {
    expect(admit("linux=a", "x", "y", "b")).toBe("x");
    expect(admit("linux=a", undefined, "y", "b")).toBeUndefined();
  });

  it("is published for its own archive alone", () => {
    const serving = (letter: string) =>
      new Map(
        [...contentOf(`linux=${letter}`)].map(([name, sha256]) => [
          name,
          { sha256 },
        ]),
      );
    expect(sayOf(reportsOn(reportsOf("x"), serving("a")))).toBe("x");
    expect(sayOf(reportsOn(reportsOf("x"), serving("b")))).toBeUndefined();
    expect(sayOf(reportsOn(reportsOf("x"), new Map()))).toBe("x");
  });
});

it.each<[string, Said, Said, boolean]>([
  ["is one that was not known", "x", "x>y", true],
  ["is none that was known", "x>y", "x>y", false],
  ["is one that says another thing", "x>y", "x>z", true],
  ["is one that says more", "x>y", "x>yz", true],
  ["is none that says less", "x>yz", "x>y", false],
  ["is none where nothing changed", "x", "x", false],
  ["is one of what was never reported", undefined, "x>y", true],
])("a changed report %s", (_, known, now, expected) => {
  const changed = listChangedReports(reportsOf(known), reportsOf(now));
  const [, offered = ""] = now?.split(">") ?? [];
  const one = {
    platform: "linux",
    first: hashes("x"),
    offered: hashes(offered),
  };
  expect(changed).toEqual(expected ? [one] : []);
});

it.each([
  ["another h1", undefined, "x", "y", true],
  ["one of several", undefined, "xy", "y", false],
  ["none", undefined, "x", "", false],
  ["its first", undefined, undefined, "y", false],
  ["another h1 of what is pinned", "linux=a", "x", "y", false],
])(
  "a network mirror that names an archive by %s contradicts itself: %j %j %j %s",
  (_, pinned, known, now, expected) => {
    const first = {
      trust: {
        pinned:
          pinned === undefined ? undefined : { content: contentOf(pinned) },
      },
      reported: reportsOf(known),
    };
    const content = contentOf("linux=a");
    expect(contradictsReports(first, content, reportsOf(now))).toBe(expected);
  },
);

describe("clients", () => {
  let K: Signer;
  beforeAll(async () => {
    ({ K } = await makeSigners());
  });

  /** Collects the served hashes while the registry reports one h1 after another. */
  async function serveReports(...reports: readonly string[]) {
    const scene = await MirrorScene.prepare();
    const served: string[][] = [];
    for (const reported of reports) {
      scene.registry.offer("1.0.0", { content: "linux=a", by: K, reported });
      const mirror = scene.start();
      const request = await mirror.request("1.0.0");
      const { value } = await mirror.standings.find(request);
      const { packageHashes = [] } = value.reported.get("linux_amd64") ?? {};
      served.push([...packageHashes]);
      scene.clock.pass(freshness);
    }
    return served;
  }

  it("get the h1 that came first, and no other, across restarts", async () => {
    const served = await serveReports("linux=x", "linux=y", "");
    expect(served).toEqual([hashes("x"), hashes("x"), hashes("x")]);
  });

  it("get no h1 that is reported only after the release was admitted", async () => {
    expect(await serveReports("", "linux=x", "linux=x")).toEqual([[], [], []]);
  });
});
