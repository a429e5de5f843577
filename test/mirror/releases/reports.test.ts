import { describe, expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import {
  continueReports,
  listChangedReports,
  resumeReports,
  type Reports,
} from "../../../src/mirror/releases/reported-hashes.ts";
import { digestOf, h1Of } from "../../scenes/release-sketches.ts";

/** Such as `xy`, or `xy>z` where z is said of the same archive since; undefined: nothing is said. */
type Said = string | undefined;

function reportsOf(said: Said): Reports {
  if (said === undefined) return new Map();
  const [first = "", since] = said.split(">");
  const hashes = (letters: string) => Array.from(letters, h1Of);
  const report = { packageHashes: hashes(first), size: undefined };
  const offered = since === undefined ? {} : { offered: hashes(since) };
  return new Map([["linux", { ...report, ...offered }]]);
}

function sayOf(reports: Reports): Said {
  const report = reports.get("linux");
  if (report === undefined) return undefined;
  const letters = (hashes: readonly string[] = []) =>
    hashes.map((hash) => hash[3]).join("");
  const since = report.offered && `>${letters(report.offered)}`;
  return `${letters(report.packageHashes)}${since ?? ""}`;
}

const packagesOf = (letter: string | undefined) =>
  new Map(
    letter === undefined
      ? []
      : [["linux", { sha256: parseSha256(digestOf(letter)) }]],
  );
const of = (archive: string | undefined, said: Said) => ({
  packages: packagesOf(archive),
  reported: reportsOf(said),
});

describe("what a registry reports of an archive, first seen wins", () => {
  it.each<[string, Said, Said, Said]>([
    ["said first, goes on", undefined, "x", "x"],
    ["said again, goes on", "x", "x", "x"],
    ["said no more, goes on", "x", undefined, "x"],
    ["said otherwise, goes on with what is said since", "x", "y", "x>y"],
    ["said in part, goes on whole", "xy", "x", "xy"],
    ["said with more, goes on with what is said since", "x", "xy", "x>xy"],
    ["said first where nothing was told, is taken", "", "x", "x"],
    ["never said, is not", undefined, undefined, undefined],
    ["said again after another word, is as it was first", "x>y", "x", "x>y"],
    ["said empty, goes on", "x", "", "x"],
  ])("%s", (_rule, known, now, expected) => {
    const release = of("a", now);
    const continued = continueReports(
      of("a", known),
      release,
      release.reported,
    );
    expect(sayOf(continued)).toBe(expected);
    expect(continued.size).toBe(expected === undefined ? 0 : 1);
  });

  it.each<[string, string | undefined, string | undefined, Said, Said]>([
    ["another archive has a report of its own", "a", "b", "y", "y"],
    ["another archive takes none along", "a", "b", undefined, undefined],
    ["an archive that is named first has its own", undefined, "a", "y", "y"],
    ["an archive that is left out keeps its own", "a", undefined, "y", "x>y"],
  ])("%s", (_rule, before, after, now, expected) => {
    const release = of(after, now);
    const continued = continueReports(
      of(before, "x"),
      release,
      release.reported,
    );
    expect(sayOf(continued)).toBe(expected);
    expect(continued.size).toBe(expected === undefined ? 0 : 1);
  });
});

describe("what is left of a report when its proof was dropped", () => {
  it.each<[string, string, Said, Said, Said]>([
    ["goes on before what is said now", "a", "x", "y", "x"],
    ["goes on where nothing is said now", "a", "x", undefined, "x"],
    ["is nothing where no h1 was told", "a", "", "y", "y"],
    ["is nothing for another archive", "b", "x", "y", "y"],
  ])("%s", (_rule, archive, known, now, expected) => {
    const resumed = resumeReports(of("a", known), of(archive, now));
    expect(sayOf(resumed)).toBe(expected);
  });
});

it.each<[string, Said, Said, boolean]>([
  ["is one that was not known", "x", "x>y", true],
  ["is none that was known", "x>y", "x>y", false],
  ["is one that says another thing", "x>y", "x>z", true],
  ["is one that says more", "x>y", "x>yz", true],
  ["is none that says less", "x>yz", "x>y", false],
  ["is none where nothing changed", "x", "x", false],
  ["is one of what was never told", undefined, "x>y", true],
])("a changed report %s", (_rule, known, now, expected) => {
  const changed = listChangedReports(reportsOf(known), reportsOf(now));
  const [, offered = ""] = now?.split(">") ?? [];
  expect(changed).toEqual(
    expected
      ? [
          {
            platform: "linux",
            first: [h1Of("x")],
            offered: Array.from(offered, h1Of),
          },
        ]
      : [],
  );
});
