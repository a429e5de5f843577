import { afterAll, describe, expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import {
  digestOf,
  putTogether,
  tarEntry,
  type ManifestDocument,
  connectedSite,
  exportBundle,
  importHere,
  offlineSite,
  sealHeader,
  takeApart,
  type Site,
} from "./bundles.ts";
import { readFileSync } from "node:fs";
import { loadConfiguration } from "../../../src/config/load.ts";
import { openMirror } from "../../../src/wiring/open-mirror.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import type { RecordKey } from "../../../src/store/records/record-tables.ts";
import { readRecord } from "../../store/stores.ts";

const linux = "linux_amd64";
const darwin = "darwin_arm64";

const widget = "registry.terraform.io/acme/widget";
const heldBackFiles = {
  release: `records/releases/${widget}/1.2.3`,
  candidates: `records/candidates/${widget}`,
  contact: `records/first_contacts/${widget}`,
} as const;

type RecordBody = Readonly<Record<string, unknown>>;

interface ProofDocument {
  document: string;
  signature: string | null;
  keys: string[];
}

type Core = Awaited<ReturnType<typeof openMirror>>;

/** A good bundle, and a site that pins its key and has something stored already. */
class Tampering {
  readonly release: Release;
  readonly good: Buffer;
  readonly #site: Site;
  readonly #core: Core;

  private constructor(release: Release, good: Buffer, site: Site, core: Core) {
    this.release = release;
    this.good = good;
    this.#site = site;
    this.#core = core;
  }

  static async start(): Promise<Tampering> {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    const platforms = [linux, darwin];
    const release = await registry.publish({
      version: "1.2.3",
      platforms,
      size: 3000,
    });
    await registry.publish({ type: "gadget", version: "0.1.0" });
    const from = connectedSite(authority, registry);
    const flags = platforms.flatMap((platform) => ["--platform", platform]);
    const file = await exportBundle(from, ...flags, "acme/widget@1.2.3");
    const before = await exportBundle(from, "acme/gadget@0.1.0");
    await registry.stop();
    const fingerprints = [release.signer.fingerprint];
    const match = "registry.terraform.io/acme/*";
    const trust = { keys: [{ match, fingerprints }] };
    const site = offlineSite({ config: { trust } });
    // Something is stored already, so that unchanged does not mean empty.
    expect((await site.run("import", before)).status).toBe(0);
    const configuration = loadConfiguration({ file: site.configFile });
    const core = await openMirror(configuration);
    return new Tampering(release, readFileSync(file), site, core);
  }

  async stop(): Promise<void> {
    await this.#core.close();
  }

  /** Copies the good bundle into parts to tamper with. */
  parts() {
    const { manifest, members } = takeApart(Buffer.from(this.good));
    return { manifest, members: [...members] };
  }

  /** The header of a member was changed, and sealed again. */
  withHeader(change: (header: Buffer) => void, member = 2): Buffer {
    const bytes = Buffer.from(this.good);
    let at = 0;
    for (let index = 0; index < member; index++) {
      const size = parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
      at += 512 + Math.ceil(size / 512) * 512;
    }
    const header = bytes.subarray(at, at + 512);
    change(header);
    sealHeader(header);
    return bytes;
  }

  withManifest(change: (manifest: ManifestDocument) => void): Buffer {
    const { manifest, members } = this.parts();
    change(manifest);
    return putTogether({ manifest, members });
  }

  /** The proof was changed, and the manifest fits to it again. */
  withProof(change: (proof: ProofDocument) => void): Buffer {
    const { manifest, members } = this.parts();
    const [proof, ...archives] = members;
    const document = JSON.parse(String(proof?.bytes)) as ProofDocument;
    change(document);
    const bytes = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
    const sha256 = digestOf(bytes);
    firstRelease(manifest).proof = sha256;
    manifest.proofs = [{ sha256, size: bytes.length }];
    const member = { name: `proofs/${sha256}.json`, bytes };
    return putTogether({ manifest, members: [member, ...archives] });
  }

  import(bytes: Buffer) {
    return importHere(this.#core, this.#site, bytes);
  }

  /** Expects that nothing changes, and that the reason is the one meant. */
  async expectRefused(bytes: Buffer, reason: RegExp): Promise<void> {
    expect(await this.#changedBy(bytes, reason)).toEqual([]);
  }

  /** Expects that nothing changes but the records of the first contact, the evidence and the candidate; returns them. */
  async expectHeldBack(
    bytes: Buffer,
    reason: RegExp,
  ): Promise<Readonly<Record<keyof typeof heldBackFiles, RecordBody>>> {
    const files = Object.values(heldBackFiles);
    const changed = await this.#changedBy(bytes, reason);
    expect(changed.toSorted()).toEqual(files.toSorted());
    return {
      release: this.#read(heldBackFiles.release),
      candidates: this.#read(heldBackFiles.candidates),
      contact: this.#read(heldBackFiles.contact),
    };
  }

  #read(file: string): RecordBody {
    return readRecord(
      this.#site.directory,
      file.split("/").slice(1) as unknown as RecordKey,
    ) as RecordBody;
  }

  /** The files that are there, gone or other than before. */
  async #changedBy(bytes: Buffer, reason: RegExp): Promise<readonly string[]> {
    const before = this.#site.snapshot();
    expect(before.size).toBeGreaterThan(2);
    const { status, said } = await this.import(bytes);
    expect(said).toMatch(reason);
    expect(status).toBe(1);
    const after = this.#site.snapshot();
    const paths = new Set([...before.keys(), ...after.keys()]);
    return [...paths].filter((path) => before.get(path) !== after.get(path));
  }
}

function firstRelease(manifest: ManifestDocument) {
  const [first] = manifest.releases;
  if (first === undefined) throw new Error("an empty bundle");
  return first;
}

const stranger = await createSigner({ name: "Stranger" });
const tampering = await Tampering.start();
afterAll(() => tampering.stop());

describe("a bundle whose manifest lies", () => {
  const lies: [string, (manifest: ManifestDocument) => void, RegExp][] = [
    [
      "a provider with a path",
      (m) => (firstRelease(m).provider = "registry.terraform.io/../../etc"),
      /form that is known/,
    ],
    [
      "a version with a path",
      (m) => (firstRelease(m).version = "../1.2.3"),
      /form that is known/,
    ],
    [
      "a platform with a path",
      (m) => (firstRelease(m).platforms = ["../linux_amd64"]),
      /form that is known/,
    ],
    [
      "a digest with a path",
      (m) => (firstRelease(m).proof = "../".repeat(22)),
      /form that is known/,
    ],
    [
      "another provider",
      (m) => (firstRelease(m).provider = "registry.terraform.io/acme/other"),
      /does not name terraform-provider-other_1.2.3/,
    ],
    [
      "another version",
      (m) => (firstRelease(m).version = "9.9.9"),
      /does not name terraform-provider-widget_9.9.9/,
    ],
    [
      "a hostname that is not served",
      (m) => (firstRelease(m).provider = "registry.example.com/acme/widget"),
      /does not serve registry.example.com/,
    ],
    [
      "a platform that was not signed",
      (m) => {
        const { archives, platforms } = firstRelease(m);
        platforms.splice(1, 1, "plan9_arm");
        firstRelease(m).archives = {
          [darwin]: archives[darwin] ?? "",
          plan9_arm: archives[linux] ?? "",
        };
      },
      /does not name terraform-provider-widget_1.2.3_plan9_arm/,
    ],
    [
      "two platforms exchanged",
      (m) => {
        const { archives } = firstRelease(m);
        firstRelease(m).archives = {
          [darwin]: archives[linux] ?? "",
          [linux]: archives[darwin] ?? "",
        };
      },
      /is refused \(expected SHA-256/,
    ],
    [
      "a size that is too small",
      (m) => m.archives.forEach((archive) => archive.size--),
      /is not a member|bytes by its manifest/,
    ],
    [
      "an archive over the limits",
      (m) => m.archives.forEach((archive) => (archive.size = 2 ** 40)),
      /over the limits/,
    ],
    [
      "a proof over the limits",
      (m) => m.proofs.forEach((proof) => (proof.size = 2 ** 30)),
      /over the limits/,
    ],
    [
      "another format",
      (m) => (m.format = "provender-bundle/2"),
      /form that is known/,
    ],
    [
      "a key that is not known",
      (m) => Object.assign(m, { trusted: true }),
      /form that is known/,
    ],
    [
      "a release twice",
      (m) => m.releases.push({ ...firstRelease(m) }),
      /lists something twice/,
    ],
    [
      "a proof that is not there",
      (m) => (m.proofs = []),
      /bytes by its manifest/,
    ],
  ];
  it.each(lies)("about %s imports nothing", async (_, change, reason) => {
    await tampering.expectRefused(tampering.withManifest(change), reason);
  });
});

describe("a bundle whose content was tampered with", () => {
  it("with two archives exchanged imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const [proof, one, two] = members;
    if (!proof || !one || !two) throw new Error("too few members");
    const swapped = [
      proof,
      { name: one.name, bytes: two.bytes },
      { name: two.name, bytes: one.bytes },
    ];
    expect(one.bytes.length).toBe(two.bytes.length);
    await tampering.expectRefused(
      putTogether({ manifest, members: swapped }),
      /expected SHA-256 .*, got/,
    );
  });

  it("with one other byte in an archive, under the right digest, imports nothing", async () => {
    const bytes = Buffer.from(tampering.good);
    const at = bytes.length - 2000;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await tampering.expectRefused(bytes, /expected SHA-256 .*, got/);
  });

  it("with another archive, and a manifest that says so, imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const bytes = Buffer.from("PK evil");
    const sha256 = digestOf(bytes);
    const { archives } = firstRelease(manifest);
    const replaced = archives[linux];
    archives[linux] = sha256;
    const contents = [
      ...manifest.archives.filter((one) => one.sha256 !== replaced),
      { sha256, size: bytes.length },
    ].toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    const kept = new Map(members.map((one) => [one.name, one]));
    const evil = { name: `archives/${sha256}.zip`, bytes };
    kept.set(evil.name, evil);
    const [proof] = members;
    const files = contents.map((one) => kept.get(`archives/${one.sha256}.zip`));
    await tampering.expectRefused(
      putTogether({
        manifest: { ...manifest, archives: contents },
        members: [proof, ...files].filter((one) => one !== undefined),
      }),
      /is refused \(expected SHA-256 .*, the bundle says/,
    );
  });

  it("with other checksums under the old signature imports nothing", async () => {
    const bytes = tampering.withProof((proof) => {
      proof.document = proof.document.replace(/^./, "f");
    });
    await tampering.expectRefused(bytes, /signature .* is refused/);
  });

  it("with a malformed proof imports nothing", async () => {
    const bytes = tampering.withProof((proof) =>
      Object.assign(proof, { keys: "all" }),
    );
    await tampering.expectRefused(bytes, /proof of .* is refused/);
  });

  it("without a signature, or without keys, imports nothing", async () => {
    const unsigned = tampering.withProof((proof) => (proof.signature = null));
    await tampering.expectRefused(unsigned, /publishes no signature/);
    const keyless = tampering.withProof((proof) => (proof.keys = []));
    await tampering.expectRefused(keyless, /publishes no signing key/);
  });

  it("with the wrong key imports nothing", async () => {
    const bytes = tampering.withProof(
      (proof) => (proof.keys = [stranger.armoredPublicKey]),
    );
    await tampering.expectRefused(bytes, /signature .* is refused/);
  });

  it("with everything signed by a key that is not pinned imports nothing, and is a candidate for the operator", async () => {
    const signature = await stranger.sign(
      Buffer.from(tampering.release.checksums),
    );
    const bytes = tampering.withProof((proof) => {
      proof.signature = Buffer.from(signature).toString("base64");
      proof.keys = [stranger.armoredPublicKey];
    });
    const { release, candidates, contact } = await tampering.expectHeldBack(
      bytes,
      /held back because its signing key/,
    );
    expect(release).toMatchObject({
      pinned: null,
      evidence: [{ signedBy: stranger.fingerprint, noted: "not-pinned" }],
    });
    expect(contact).toMatchObject({
      by: "bundle",
      versions: ["1.2.3"],
      key: stranger.fingerprint,
    });
    expect(candidates).toEqual({
      list: [
        {
          version: "1.2.3",
          fingerprint: stranger.fingerprint,
          sha256sums: digestOf(Buffer.from(tampering.release.checksums)),
          reason: "not-pinned",
          since: expect.any(String) as unknown,
        },
      ],
      dropped: 0,
    });
  });
});

describe("a bundle whose tar was tampered with", () => {
  it.each<[string, (header: Buffer) => void]>([
    ["a path that leads out", (h) => h.write("../../../etc/cron.d/x\0")],
    ["an absolute path", (h) => h.write("/etc/cron.d/x\0")],
    ["another name", (h) => h.write("archives/other.zip\0")],
    ["a hard link", (h) => h.write("1archives/x\0", 156)],
    ["a symbolic link", (h) => h.write("2/etc/passwd\0", 156)],
    ["a character device", (h) => h.write("3", 156)],
    ["a block device", (h) => h.write("4", 156)],
    ["a folder", (h) => h.write("5", 156)],
    ["a pipe", (h) => h.write("6", 156)],
    ["an extended header", (h) => h.write("x", 156)],
    ["a long name", (h) => h.write("L", 156)],
    ["another size", (h) => h.write("00000000001", 124)],
    ["a prefix of the path", (h) => h.write("../..", 345)],
  ])("with %s imports nothing", async (_, change) => {
    await tampering.expectRefused(
      tampering.withHeader(change),
      /is not a member that its manifest/,
    );
  });

  it("with an extra file at the end imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const extra = { name: "archives/extra.zip", bytes: Buffer.from("extra") };
    const bytes = putTogether({ manifest, members: [...members, extra] });
    await tampering.expectRefused(bytes, /expected \d+ bytes by its manifest/);
  });

  it("with an extra file that the manifest lists imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const bytes = Buffer.from("extra");
    const sha256 = digestOf(bytes);
    const extra = { name: `archives/${sha256}.zip`, bytes };
    manifest.archives.push({ sha256, size: bytes.length });
    manifest.archives.sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    members.push(extra);
    await tampering.expectRefused(
      putTogether({ manifest, members }),
      /none of its releases speaks of/,
    );
  });

  it("with bytes after its end imports nothing", async () => {
    await tampering.expectRefused(
      Buffer.concat([tampering.good, Buffer.from("tail")]),
      /expected \d+ bytes by its manifest/,
    );
  });

  it("that does not begin with its manifest imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const [first] = members;
    if (first === undefined) throw new Error("no members");
    await tampering.expectRefused(
      Buffer.concat([tarEntry(first), putTogether({ manifest, members })]),
      /does not begin with manifest.json/,
    );
  });

  it("that is empty, or no tar at all, imports nothing", async () => {
    await tampering.expectRefused(Buffer.alloc(0), /does not begin with/);
    await tampering.expectRefused(
      Buffer.from("PK\x03\x04"),
      /does not begin with/,
    );
  });
});

describe("a bundle that is cut short", () => {
  it.each(Array.from({ length: 20 }, (_, index) => index))(
    "after %i twentieths imports nothing",
    async (twentieths) => {
      const end = Math.floor((tampering.good.length * twentieths) / 20);
      await tampering.expectRefused(
        tampering.good.subarray(0, end),
        /does not begin|cut short|bytes by its manifest/,
      );
    },
  );

  it("by one byte imports nothing", async () => {
    const bytes = tampering.good.subarray(0, tampering.good.length - 1);
    await tampering.expectRefused(bytes, /bytes by its manifest/);
  });
});

it("imports the bundle without tampering", async () => {
  const { status, said } = await tampering.import(
    putTogether(tampering.parts()),
  );
  expect(said).toContain("2 archives imported");
  expect(status).toBe(0);
});
