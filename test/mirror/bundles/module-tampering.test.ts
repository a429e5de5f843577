import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import { moduleHost } from "../../scenes/module-calls.ts";
import { putTogether } from "./bundles.ts";
import {
  expectNothing,
  fresh,
  importInto,
  parts,
  seen,
  startSites,
  stopSites,
  withArchive,
  withRecord,
} from "./module-tampering.ts";

beforeAll(startSites, 60_000);
afterAll(stopSites);

const unknown = /not in a form that is known/;

describe("a tampered bundle with modules imports nothing", () => {
  it.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    [
      "a changed byte of an archive",
      () => {
        const made = parts();
        const { bytes } = made.members[0];
        bytes[0] = (bytes[0] ?? 0) ^ 1;
        return putTogether(made);
      },
      /expected SHA-256/,
    ],
    [
      "an archive that is cut short",
      () => putTogether(parts()).subarray(0, -1536),
      /expected \d+ bytes by its manifest/,
    ],
    [
      "archives in each other's place",
      () => {
        const {
          manifest,
          members: [a, b, ...rest],
        } = parts();
        const swapped = [
          { ...a, bytes: b.bytes },
          { ...b, bytes: a.bytes },
        ];
        return putTogether({ manifest, members: [...swapped, ...rest] });
      },
      /manifest asks for|by its manifest/,
    ],
    [
      "an archive that is missing",
      () => {
        const { manifest, members } = parts();
        return putTogether({ manifest, members: members.slice(1) });
      },
      /expected \d+ bytes by its manifest/,
    ],
    [
      "the digest of another archive in a record",
      () => withRecord({ sha256: "0".repeat(64) }),
      /none of its releases speaks of/,
    ],
    [
      "a module twice",
      () => {
        const made = parts();
        made.modules.push(made.modules[0]);
        return putTogether(made);
      },
      /lists something twice/,
    ],
    [
      "a folder that leads out",
      () => withRecord({ subdirectory: "../../etc" }),
      unknown,
    ],
    [
      "a name that leads out",
      () => withRecord({ module: `${moduleHost}/../../aws` }),
      unknown,
    ],
    [
      "a version that leads out",
      () => withRecord({ version: "../1.0.0" }),
      unknown,
    ],
    ["a malformed commit", () => withRecord({ commit: "main" }), unknown],
    [
      "a record with more than it should have",
      () => withRecord({ trusted: true }),
      unknown,
    ],
    [
      "a size that is not the archive's",
      () => {
        const made = parts();
        made.archives[0].size += 512;
        return putTogether(made);
      },
      /expected \d+ bytes by its manifest/,
    ],
    [
      "an archive of another format than its record says",
      async () =>
        withArchive(await tarGz([["main.tf", ""]]), { format: "zip" }),
      /archive of .* is refused/,
    ],
    [
      "an archive whose members lead out",
      async () => withArchive(await zip([["../../main.tf", ""]])),
      /archive of .* is refused/,
    ],
    [
      "an archive with a link that leads out",
      async () =>
        withArchive(await zip([["main.tf", "/etc/passwd", 0o120777]])),
      /archive of .* is refused/,
    ],
    [
      "a module of a registry without an origin",
      async () =>
        withArchive(await zip([["main.tf", ""]]), {
          module: "elsewhere.example.com/acme/subnet/aws",
        }),
      /does not serve elsewhere.example.com/,
    ],
    [
      "a module that the policy forbids",
      async () =>
        withArchive(await zip([["main.tf", ""]]), {
          module: `${moduleHost}/banned/subnet/aws`,
        }),
      /banned\/subnet\/aws/,
    ],
  ])("with %s", async (_, make, reason) => {
    await expectNothing(fresh, await make(), reason);
  });

  it.each<[string, () => Buffer | Promise<Buffer>]>([
    [
      "another content",
      async () => withArchive(await zip([["main.tf", "# other"]])),
    ],
    [
      "the content of another module",
      () => {
        const made = parts();
        const [a, b] = made.modules;
        [a.sha256, b.sha256] = [b.sha256, a.sha256];
        return putTogether(made);
      },
    ],
  ])("with %s for what is pinned", async (_, make) => {
    await expectNothing(
      seen,
      await make(),
      /offered with other content than clients get of it \(expected SHA-256/,
    );
  });

  it.each([
    ["another folder", { subdirectory: "deep" }],
    ["a commit that it did not have", { commit: "0".repeat(40) }],
  ])("with %s for the archive that is pinned", async (_, claim) => {
    await importInto(seen, putTogether(parts()));
    const before = seen.snapshot();
    await importInto(seen, withRecord(claim));
    expect(seen.snapshot()).toEqual(before);
  });

  it("but a good one does, once", async () => {
    const bytes = putTogether(parts());
    const before = seen.snapshot();
    expect((await importInto(seen, bytes)).said).toContain(
      "0 archives imported, 3 already there",
    );
    expect(seen.snapshot()).toEqual(before);
    expect((await importInto(fresh, bytes)).said).toContain(
      "3 releases, 3 archives imported",
    );
  });
});
