import { hash } from "node:crypto";
import { isSha256, type Sha256 } from "../../../src/address/hash.ts";
import type { Hostname } from "../../../src/address/hostname.ts";
import { parsePlatform } from "../../../src/address/platform.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import type { Archives } from "../../../src/mirror/archives/archives.ts";
import {
  type BundledRelease,
  type BundleFile,
  formatProof,
} from "../../../src/mirror/bundles/bundle-file.ts";
import {
  importBundle,
  type ImportParts,
} from "../../../src/mirror/bundles/import-bundle.ts";
import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import type { AdmittedRelease } from "../../../src/mirror/providers/provider-mirror.ts";
import type { Notebook } from "../../../src/mirror/trust/trust-events.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import type { AuditLog } from "../../../src/store/database/audit-log.ts";
import type { AuditEntry } from "../../../src/telemetry/audit-entry.ts";
import type { Alarms } from "../../../src/telemetry/alarms.ts";
import { TestClock } from "../../fakes/clock.ts";
import {
  composeProviders,
  makeAddresses,
} from "../../scenes/composed-mirror.ts";
import {
  base,
  type Offered,
  OfferedOrigin,
  unreachable,
} from "../../scenes/offered-origin.ts";
import { readFailure, type Answer, type Face } from "./answers.ts";
import { digestOfDocument, type ReleaseName } from "./documents.ts";
import { Life, MemoryDisk, MemoryRecords } from "./records.ts";
import type { FaultPlace, Offer, Registry } from "./registry.ts";
import {
  hostname,
  modelTimes,
  namespace,
  rulesOf,
  type Settings,
} from "./settings.ts";
import { toyJudge } from "./toy-keys.ts";

/** A machine that is modelled whole. */
export class MemoryMachine {
  readonly clock = new TestClock();
  readonly disk = new MemoryDisk();
  /** Alarms as they were raised. */
  readonly alarms: {
    readonly kind: string;
    readonly facts: Readonly<Record<string, unknown>>;
  }[] = [];
  readonly audit: AuditEntry[] = [];
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }
}

/** Request of a client. */
export interface Ask extends ReleaseName {
  readonly face: Face;
  readonly platform: string;
}

/** Result of an import: the versions that it took, or why it failed. */
export interface Imported {
  readonly taken: readonly string[];
  readonly answer: Answer;
}

const judge = toyJudge(digestOfDocument);
const { providerOf, releaseOf } = makeAddresses(hostname, namespace);

/** Every archive is stored, and none is read; imports find room. */
const archives = {
  findSize: () => Promise.resolve(1),
} as unknown as Archives;
const storedBlobs = {
  blobs: {
    size: () => Promise.resolve(1),
    usage: { begin: () => () => undefined, flush: () => Promise.resolve() },
  },
  reserve: () => Promise.resolve({ release: () => undefined }),
};

/** One process of the mirror, from its start to its end: its real parts, without files, threads and sockets. */
export class MirrorProcess {
  readonly life = new Life();
  readonly #composed: ReturnType<typeof composeProviders>;
  readonly #importing: ImportParts;

  constructor(machine: MemoryMachine, settings: Settings) {
    const { clock, registry } = machine;
    const { signatures, profile } = settings;
    this.#composed = composeProviders({
      ...composeTrust(machine, this.life),
      hostname: hostname as Hostname,
      origin: {
        registry: new ScriptedOrigin(registry, this.life),
        ...{ policy: { signatures, profile }, judge, clock },
      },
      rules: rulesOf(settings),
      ...{ archives, freshness: modelTimes.freshness },
    });
    const parts = { ...this.#composed, clock, ...storedBlobs };
    this.#importing = parts as unknown as ImportParts;
  }

  /** Follows a changed configuration, as a reload does. */
  configure(settings: Settings): void {
    this.#composed.admission.replaceRules(rulesOf(settings));
  }

  ask(asked: Ask): Promise<Answer> {
    return this.#unlessDead(this.#ask(asked));
  }

  /** Imports a bundle of some releases. */
  async import(offers: readonly Offer[]): Promise<Imported> {
    const taken: string[] = [];
    const bundle = makeBundle(offers);
    const { signal } = new AbortController();
    const all = async (): Promise<Answer> => {
      for await (const one of importBundle(this.#importing, bundle, signal))
        if (!("refused" in one)) taken.push(one.name.split(" ")[1] ?? "");
      return { kind: "versions", versions: taken };
    };
    const answer = await this.#unlessDead(all());
    return { taken, answer };
  }

  async #unlessDead(answer: Promise<Answer>): Promise<Answer> {
    const all = [answer.catch(readFailure), this.life.died];
    const first = await Promise.race(all);
    return first === "dead" ? { kind: "dead" } : first;
  }

  async #ask({ face, type, version, platform }: Ask): Promise<Answer> {
    const { providers } = this.#composed;
    if (face === "index") {
      const { value } = await providers.listVersions(providerOf(type));
      return { kind: "versions", versions: value.versions };
    }
    const address = releaseOf(type, version);
    if (face === "recall")
      return packagesOf(await providers.recallRelease(address));
    if (face === "version")
      return packagesOf((await providers.findRelease(address)).value);
    const wanted = parsePlatform(platform);
    const { value } = await providers.findPackage(address, wanted);
    const packages = { [platform]: value.found.sha256 };
    return { kind: "packages", packages };
  }
}

function packagesOf({ release }: AdmittedRelease): Answer {
  const packages = [...release.packages].map(
    ([platform, { sha256 }]) => [platform, sha256] as const,
  );
  return { kind: "packages", packages: Object.fromEntries(packages) };
}

/** Records, trust and notes of one process: what commands need. */
export function composeTrust(machine: MemoryMachine, life: Life) {
  const records = new MemoryRecords(machine.disk, life, machine.clock);
  const changes = new ProviderChanges(records);
  const trust = new TrustStore(records, changes);
  records.listen(() => trust.forget());
  const audit = {
    record: async (
      entry: AuditEntry,
      { durable }: { readonly durable: boolean },
    ) => {
      if (machine.disk.isFull && durable)
        throw failure("store-unusable", "the store", "its disk is full");
      const write = () => machine.audit.push(entry);
      // What nothing waits for is kept in memory while the disk is full.
      await (durable ? records.write(write) : life.write(write));
    },
  };
  const alarms = {
    raise: (kind: string, facts: Readonly<Record<string, unknown>>) => {
      if (!life.isDead) machine.alarms.push({ kind, facts });
    },
  };
  const notebook: Notebook = {
    audit: audit as unknown as AuditLog,
    alarms: alarms as unknown as Alarms,
    clock: machine.clock,
  };
  return { records, changes, trust, notebook };
}

/** Makes a bundle in memory; its archives are stored already. */
function makeBundle(offers: readonly Offer[]): BundleFile {
  const proofs = new Map<string, Buffer>();
  const releases = offers.map(({ signed, blocks }): BundledRelease => {
    const { type, version, digests, text, signature } = signed;
    const document = Buffer.from(text);
    const bytes = formatProof({ document, signature, keys: blocks });
    const proof = hash("sha256", bytes) as Sha256;
    proofs.set(proof, bytes);
    return {
      provider: providerAddress(hostname, namespace, type),
      version: parseVersion(version),
      proof,
      platforms: Object.keys(digests).map(parsePlatform),
      archives: Object.fromEntries(
        Object.entries(digests).flatMap(([platform, sha256]) =>
          isSha256(sha256) ? [[platform, sha256] as const] : [],
        ),
      ),
    };
  });
  const contents = { proofs: [], archives: [], moduleArchives: [] };
  const bundle = {
    manifest: { releases, modules: [], ...contents },
    carries: (sha256: string) => proofs.has(sha256),
    sizeOf: () => undefined,
    verify: () => Promise.resolve(),
    readProof: (sha256: string) => Promise.resolve(proofs.get(sha256)),
  };
  return bundle as unknown as BundleFile;
}

/** Turns that an answer takes at most in a burst. */
const slowest = 24;

/** A registry as one process asks it. */
class ScriptedOrigin extends OfferedOrigin {
  readonly #registry: Registry;
  readonly #life: Life;

  constructor(registry: Registry, life: Life) {
    super();
    this.#registry = registry;
    this.#life = life;
  }

  protected listOffered(type: string): readonly string[] {
    const versions = this.#registry.listVersions(type);
    if (versions.length === 0) throw failure("not-found", type);
    return versions;
  }

  protected find(type: string, version: string): Offered | undefined {
    const offer = this.#registry.findOffer({ type, version });
    if (offer === undefined) return undefined;
    const { digests, sha256sums, signer, signedAt, text, signature } =
      offer.signed;
    return {
      ...{ digests, keys: offer.blocks },
      sums: `${sha256sums}-${signer}-${signedAt}`,
      namesSignature: signature !== undefined,
      fetch: () => ({ document: Buffer.from(text), signature }),
    };
  }

  protected async answer(place: FaultPlace, type: string, version: string) {
    await this.#life.wait(slowest);
    const fault = this.#registry.findFault(place, { type, version });
    if (fault === "down") throw unreachable;
    if (fault === "gone" && place === "sums")
      throw failure("origin-status", base, 404);
    if (fault === "gone") throw failure("not-found", `${type} ${version}`);
  }
}
