import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import {
  countLeftOut,
  describeLeftOut,
  divide,
  formatLeftOut,
  leaveOutRefused,
  leaveOutYoung,
  type LeftOut,
} from "../../../src/mirror/trust/left-out.ts";
import { address } from "../../scenes/believed-releases.ts";

const version = parseVersion("1.0.0");
const leftOut = (kind: LeftOut["kind"], count = 1): readonly LeftOut[] =>
  Array.from({ length: count }, () => ({ version, kind, cause: "x" }));

it.each<[string, () => LeftOut, string]>([
  [
    "of no known age",
    () => leaveOutYoung(version, { availableAt: undefined }),
    "its age is not known",
  ],
  [
    "too young",
    () =>
      leaveOutYoung(version, {
        availableAt: new Date("2026-01-01T00:00:00Z"),
      }),
    "until 2026-01-01T00:00:00.000Z",
  ],
  [
    "not looked at",
    () => leaveOutRefused(version, undefined),
    "it was not looked at yet",
  ],
  [
    "refused for its key",
    () =>
      leaveOutRefused(
        version,
        failure("key-refused", address, "K", "unknown", "d", undefined),
      ),
    "unknown signing key K",
  ],
  [
    "refused because it is not signed",
    () =>
      leaveOutRefused(
        version,
        failure("key-refused", address, "none", "unknown", "d", undefined),
      ),
    "it is not signed",
  ],
  [
    "refused for its signature",
    () =>
      leaveOutRefused(
        version,
        failure("signature-refused", "x", "revoked", "y"),
      ),
    "its signature is refused",
  ],
  [
    "refused for anything else",
    () => leaveOutRefused(version, failure("archive-not-signed", "x", "y.zip")),
    "archive-not-signed",
  ],
])("a version is left out, %s", (_why, leaveOut, cause) => {
  expect(leaveOut().cause).toBe(cause);
});

describe("left-out versions are reported by kind:", () => {
  const named = Array.from({ length: 5 }, () => "1.0.0 (x)").join(", ");
  it.each([
    ["nothing", [], undefined, undefined],
    [
      "one of a kind",
      leftOut("held"),
      { held: 1 },
      "1 held back; This mirror leaves out, held back: 1.0.0 (x)",
    ],
    [
      "five by name",
      leftOut("denied", 5),
      { denied: 5 },
      `5 denied; This mirror leaves out, denied: ${named}`,
    ],
    [
      "and more by number, beside another kind",
      [...leftOut("denied", 7), ...leftOut("young")],
      { denied: 7, young: 1 },
      `1 too young, 7 denied; This mirror leaves out, too young: 1.0.0 (x); This mirror leaves out, denied: ${named} and 2 more`,
    ],
  ])("%s", (_what, versions, counts, words) => {
    expect(countLeftOut(versions)).toEqual(counts);
    expect(describeLeftOut(versions)).toBe(words);
    expect(formatLeftOut(versions)).toHaveLength(
      Object.keys(counts ?? {}).length,
    );
  });
});

describe("of denied, young and held versions", () => {
  const all = (["denied", "young", "held"] as const).flatMap((kind) =>
    leftOut(kind),
  );
  it.each([
    ["an enforced policy leaves out all", false, "denied young held", ""],
    ["a reporting one what was held back", true, "held", "denied young"],
  ])("%s", (_rule, isReporting, out, expected) => {
    const divided = divide(all, isReporting);
    const kinds = (some: readonly LeftOut[]) =>
      some.map(({ kind }) => kind).join(" ");
    expect(kinds(divided.leftOut)).toBe(out);
    expect(kinds(divided.reported)).toBe(expected);
  });
});
