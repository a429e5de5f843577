import { describe, expect, it } from "vitest";
import { parsePlatform } from "../../../src/address/platform.ts";
import { cutShort, failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { packageOf } from "../../../src/mirror/releases/release.ts";
import { openPackage } from "../../../src/mirror/providers/provider-mirror.ts";
import type { OriginArchive } from "../../../src/origin/http/http-client.ts";
import type { OriginPackage } from "../../../src/origin/registries/registry-answers.ts";
import { address, believe } from "../../scenes/believed-releases.ts";
import { originOf } from "../../scenes/silent-origin.ts";

const [linux, darwin] = [
  parsePlatform("linux_amd64"),
  parsePlatform("darwin_arm64"),
];
const release = await believe({
  archives: { linux_amd64: "a", darwin_arm64: "b" },
  signedBy: "K",
});
const archive = packageOf(address, release, linux);
const before = "https://files.example.com/before.zip";
const after = "https://files.example.com/after.zip";
const { signal } = new AbortController();

/** Current answer of the registry. */
interface Said {
  readonly shasum?: OriginPackage["shasum"];
  readonly href?: string;
}

/** Opens the archive where places do not answer as an archive, and tells what was asked. */
async function open(
  place: string | undefined,
  failures: Readonly<Record<string, Error>> = {},
  { href = after, shasum = archive.sha256 }: Said = {},
) {
  const asked: unknown[] = [];
  const origin = originOf({
    openArchive: ({ downloadUrl: url }, ...context) => {
      asked.push(["open", url.href]);
      expect(context).toEqual([signal, address.provider]);
      const failure = failures[url.href];
      return failure === undefined
        ? Promise.resolve({ url } as OriginArchive)
        : Promise.reject(failure);
    },
    findPackage: (...context) => {
      asked.push("find");
      const { provider, version } = address;
      expect(context).toEqual([provider, version, linux, signal]);
      const downloadUrl = new URL(href);
      return Promise.resolve({ downloadUrl, shasum } as OriginPackage);
    },
  });
  const opened = await openPackage(
    ...[origin, address, archive, place, signal],
  ).then(
    ({ url }) => url.href,
    (error: unknown) => error,
  );
  return { opened, asked };
}

describe("the archive of a release", () => {
  it("is opened where it was said to be, and the origin is not asked again", async () => {
    const { opened, asked } = await open(before);
    expect(opened).toBe(before);
    expect(asked).toEqual([["open", before]]);
  });

  it("is opened where the origin says that it is, when that was not said before", async () => {
    const { opened, asked } = await open(undefined);
    expect(opened).toBe(after);
    expect(asked).toEqual(["find", ["open", after]]);
  });

  it.each([undefined, before])(
    "is not opened where the origin names another digest than was signed (before: %s)",
    async (place) => {
      const failures = { [before]: failure("origin-status", before, 404) };
      const { sha256: shasum } = packageOf(address, release, darwin);
      const { opened, asked } = await open(place, failures, { shasum });
      expect(opened).toEqual(failing("checksum-conflict"));
      const facts = { expected: archive.sha256, got: shasum };
      expect(opened).toMatchObject(facts);
      expect((opened as Error).message).toContain(archive.filename);
      expect(asked).not.toContainEqual(["open", after]);
    },
  );

  const moved = [
    failure("origin-status", before, 403),
    failure("origin-unreachable", before, "refused"),
    failure("origin-address-refused", before, "it is private"),
    failure(
      "origin-credentials",
      before,
      "answered with status 401",
      "check the token",
      undefined,
    ),
    failure("origin-answer", before, "it is a page"),
    failure("origin-answer", before, cutShort),
  ];

  it.each(moved)(
    "is looked for where it is now after $name",
    async (failure) => {
      const { opened, asked } = await open(before, { [before]: failure });
      expect(opened).toBe(after);
      expect(asked).toEqual([["open", before], "find", ["open", after]]);
    },
  );

  it.each(moved)(
    "fails with what it failed with, $name, where it is said to be in the same place",
    async (failure) => {
      const said = { href: before };
      const { opened, asked } = await open(before, { [before]: failure }, said);
      expect(opened).toBe(failure);
      expect(asked).toEqual([["open", before], "find"]);
    },
  );

  it.each([
    failure("origin-timeout", before, "headers"),
    failure("origin-busy", before, 3),
    failure("origin-suspended", before, 3, "it failed"),
    failure("not-found", "it"),
    failure("store-full", "the archive", "full", "make room"),
    new Error("a fault"),
  ])(
    "fails at once with $name, which does not say that it has moved",
    async (failure) => {
      const { opened, asked } = await open(before, { [before]: failure });
      expect(opened).toBe(failure);
      expect(asked).toEqual([["open", before]]);
    },
  );

  it("fails with what the place of now failed with", async () => {
    const last = failure("origin-status", after, 500);
    const failures = {
      [before]: failure("origin-status", before, 404),
      [after]: last,
    };
    expect((await open(before, failures)).opened).toBe(last);
    expect((await open(undefined, failures)).opened).toBe(last);
  });
});
