import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import {
  openBundle,
  runImport,
} from "../../../src/commands/packages/import.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import {
  wireBundleLimits,
  openMirror,
} from "../../../src/wiring/commands/store.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import { scratch } from "../../running-mirror.ts";
import {
  connectedSite,
  digestOf,
  exportBundle,
  offlineSite,
  putTogether,
  sealHeader,
  takeApart,
  type ManifestDocument,
  type Site,
} from "./bundles.ts";
import { readRecord } from "../../store/stores.ts";

export const linux = "linux_amd64";
export const darwin = "darwin_arm64";

const widget = "registry.terraform.io/acme/widget";
const heldBackFiles = {
  release: `records/providers/${widget}/releases/1.2.3`,
  candidates: `records/trust/candidates/${widget}`,
  contact: `records/trust/contacts/${widget}`,
} as const;

type RecordBody = Readonly<Record<string, unknown>>;

export interface ProofDocument {
  document: string;
  signature: string | null;
  keys: string[];
}

type Core = Awaited<ReturnType<typeof openMirror>>;

/** A good bundle, and a site that pins its key and has something stored already. */
export class Tampering {
  readonly release: Release;
  readonly good: Buffer;
  readonly #site: Site;
  readonly #core: Core;
  readonly #folder = scratch("tampered");
  #files = 0;

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

  async import(bytes: Buffer) {
    const file = join(this.#folder, `${this.#files++}.tar`);
    writeFileSync(file, bytes);
    let said = "";
    const limits = wireBundleLimits(
      loadConfiguration({ file: this.#site.configFile }),
    );
    const { signal } = new AbortController();
    const say = (text: string) => void (said += text);
    const status = await openBundle(file, undefined, limits, say)
      .then((bundle) => runImport(this.#core, { file, bundle, signal }, say))
      .catch((error: unknown) => {
        said += (error as Error).message;
        return 1;
      });
    return { status, said };
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
      file.split("/").slice(1),
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

export function firstRelease(manifest: ManifestDocument) {
  const [first] = manifest.releases;
  if (first === undefined) throw new Error("an empty bundle");
  return first;
}
