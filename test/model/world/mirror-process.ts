import { parsePlatform } from "../../../src/address/platform.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import type { Archives } from "../../../src/mirror/archives/archives.ts";
import type {
  BundledRelease,
  BundleFile,
} from "../../../src/mirror/bundles/bundle-file.ts";
import {
  importBundle,
  type ImportParts,
} from "../../../src/mirror/bundles/import-bundle.ts";
import type { AdmittedRelease } from "../../../src/mirror/providers/provider-mirror.ts";
import type { Notebook } from "../../../src/mirror/trust/trust-events.ts";
import {
  composeProviders,
  composeTrust,
  providerOf,
  releaseOf,
} from "../../scenes/composed-mirror.ts";
import {
  base,
  type Offered,
  OfferedOrigin,
  unreachable,
} from "../../scenes/offered-origin.ts";
import type { Answer, Ask } from "./answers.ts";
import { Life, ModelRecords } from "./records.ts";
import type { FaultPlace, Offer, Registry } from "./registry.ts";
import { modelTimes, rulesOf, type Settings } from "./settings.ts";
import { toyJudge } from "./toy-keys.ts";
import type { World } from "./world.ts";

export type MirrorProcess = ReturnType<typeof startProcess>;

type Machine = Pick<World, "clock" | "disk" | "alarms" | "registry">;

/** Every archive is stored, and none is read; imports find room. */
const size = () => Promise.resolve(1);
const archives = { findSize: size } as unknown as Archives;
const storedBlobs = {
  blobs: {
    size,
    usage: { begin: () => () => undefined, flush: () => Promise.resolve() },
  },
  reserve: () => Promise.resolve({ release: () => undefined }),
};

/** One process of the mirror, from its start to its end: its real parts, without files, threads and sockets. */
export function startProcess(machine: Machine, settings: Settings) {
  const { clock, registry } = machine;
  const { signatures, profile } = settings;
  const life = new Life();
  const composed = composeProviders({
    ...composeCommand(machine, life),
    origin: {
      registry: new ScriptedOrigin(registry, life),
      ...{ policy: { signatures, profile }, judge: toyJudge, clock },
    },
    rules: rulesOf(settings),
    ...{ archives, freshness: modelTimes.freshness },
  });
  const { admission, providers } = composed;
  const ask = async (asked: Ask): Promise<Answer> => {
    const { face, type, version, platform } = asked;
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
    return { kind: "packages", packages: { [platform]: value.found.sha256 } };
  };
  return {
    life,
    /** Follows a changed configuration, as a reload does. */
    configure: (changed: Settings) => admission.replaceRules(rulesOf(changed)),
    ask: (asked: Ask) => life.answer(ask(asked)),
    /** Imports a bundle of some releases; also returns the versions that it took, should it fail. */
    import: async (offers: readonly Offer[]) => {
      const taken: string[] = [];
      const all = async (): Promise<Answer> => {
        const parts = { ...composed, clock, ...storedBlobs };
        const importing = importBundle(
          parts as unknown as ImportParts,
          makeBundle(offers),
          new AbortController().signal,
        );
        for await (const one of importing)
          if (!("refused" in one)) taken.push(one.name.split(" ")[1] ?? "");
        return { kind: "versions", versions: taken };
      };
      return { answer: await life.answer(all()), taken };
    },
  };
}

function packagesOf({ release }: AdmittedRelease): Answer {
  const packages = [...release.packages].map(
    ([platform, { sha256 }]) => [platform, sha256] as const,
  );
  return { kind: "packages", packages: Object.fromEntries(packages) };
}

/** Records, trust and notes of one process: what commands need. */
export function composeCommand(
  { clock, disk, alarms }: Omit<Machine, "registry">,
  life: Life,
) {
  const records = new ModelRecords(disk, life, clock);
  const record = async (
    _: unknown,
    { durable }: { readonly durable: boolean },
  ) => {
    if (disk.isFull && durable)
      throw failure("store-unusable", "the store", "its disk is full");
    // What nothing waits for is kept in memory while the disk is full.
    if (durable) await records.note();
  };
  const raise = (_: string, facts: Readonly<Record<string, unknown>>) => {
    if (!life.isDead) alarms.push(facts);
  };
  const notebook = { audit: { record }, alarms: { raise }, clock };
  return {
    ...composeTrust(records),
    notebook: notebook as unknown as Notebook,
  };
}

/** Makes a bundle in memory; its archives are stored already. */
function makeBundle(offers: readonly Offer[]): BundleFile {
  const releases = offers.map(({ signed, blocks }): BundledRelease => {
    const { type, version, digests, text, signature } = signed;
    return {
      provider: providerOf(type),
      version: parseVersion(version),
      proof: { document: Buffer.from(text), signature, keys: blocks },
      platforms: Object.keys(digests).map(parsePlatform),
      archives: digests as BundledRelease["archives"],
    };
  });
  const bundle = {
    manifest: { releases, modules: [], contents: [] },
    sizeOf: () => undefined,
    verify: () => Promise.resolve(),
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
