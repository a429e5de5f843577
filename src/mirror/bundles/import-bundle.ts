import { randomUUID } from "node:crypto";
import { formatArchiveName } from "../../address/archive-name.ts";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { addEvidence } from "../../trust/settle.ts";
import { listFingerprints } from "../../verification/fingerprints.ts";
import type { Clock } from "../cache/clock.ts";
import { receiveWhole, refuseForRoom, type Reserve } from "../archives/room.ts";
import type { ModuleMirror } from "../modules/module-mirror.ts";
import { formatModuleRelease, isArchive } from "../modules/release.ts";
import {
  judgeAgain,
  judgeEvidence,
  type StoredEvidence,
  prepareProof,
  isKept,
  type KnownRelease,
  unknownRelease,
} from "../releases/evidence.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import { formatRelease, type ReleasePackage } from "../releases/release.ts";
import { orderCandidates, writeContact } from "../standings/standings.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import type { Admission, ReleaseRequest } from "../trust/admission.ts";
import type { SettledBy, Settlements } from "../trust/settlements.ts";
import type { TrustEvents } from "../trust/trust-events.ts";
import type {
  BundledModule,
  BundledRelease,
  BundleFile,
} from "./bundle-file.ts";

export interface ImportParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly modules: ModuleMirror;
  readonly blobs: BlobStore;
  readonly reserve: Reserve;
  readonly settlements: Settlements;
  readonly events: TrustEvents;
  readonly clock: Clock;
  readonly hashes: PackageHashes;
}

/** A release of a bundle, of a module or of a provider, that is in the store now. */
interface Imported {
  /** Archives that were not stored before, and their h1 is known. */
  readonly added: number;
  /** Archives that were stored already. */
  readonly present: number;
}

/** Result for one release of a bundle; `name` has its version. */
type ImportedRelease = { readonly name: string } & (
  Imported | { readonly refused: ProvenderError }
);

/**
 * Imports a bundle into the store. The whole file is read and verified before any write. Then releases are written one by
 * one, each archive before the record that names it. Stored content is not written again, so an interrupted import
 * continues where it stopped. Throws bundle-refused, and store-full before any write if the whole does not fit.
 */
export async function* importBundle(
  parts: ImportParts,
  bundle: BundleFile,
  signal: AbortSignal,
): AsyncGenerator<ImportedRelease> {
  const { blobs, reserve } = parts;
  // The copy of an archive that is stored already is not used, so it is not read.
  await bundle.verify(async ({ sha256, size }) => {
    signal.throwIfAborted();
    return (await blobs.size(sha256)) === size;
  });
  const judged: JudgedRelease[] = [];
  const modules: BundledModule[] = [];
  for (const entry of bundle.manifest.releases)
    yield* attempt(formatRelease(entry), async () => {
      signal.throwIfAborted();
      judged.push(await judgeRelease(parts, bundle, entry));
    });
  for (const entry of bundle.manifest.modules)
    yield* attempt(formatModuleRelease(entry), async () => {
      await judgeModule(parts, bundle, entry);
      modules.push(entry);
    });
  const digests = new Set([
    ...judged.flatMap(({ packages }) => packages.map(({ sha256 }) => sha256)),
    ...modules.map(({ sha256 }) => sha256),
  ]);
  // Archives of the bundle are not evicted to make room for it.
  const held = [...digests].map((sha256) => blobs.usage.begin(sha256));
  // A prune of another process must not take for unused what no record names yet.
  await blobs.usage.flush();
  try {
    let bytes = 0;
    for (const sha256 of digests) {
      const size = bundle.sizeOf(sha256) ?? 0;
      if ((await blobs.size(sha256)) !== size) bytes += size;
    }
    // After any evictions.
    const room = bytes === 0 ? undefined : await reserve(bytes, () => 0);
    room?.release();
    if (bytes > 0 && room === undefined)
      throw refuseForRoom(`the ${bytes} bytes of the bundle`);
    await makeContacts(parts, judged);
    for (const release of judged)
      yield* attempt(formatRelease(release.request.address), () =>
        importRelease(parts, bundle, release, signal),
      );
    for (const module of modules)
      yield* attempt(formatModuleRelease(module), () =>
        importModule(parts, bundle, module),
      );
  } finally {
    for (const letGo of held) letGo();
  }
}

/** Yields what was imported, and a refusal, which is about one release; anything else ends the import. */
async function* attempt(
  name: string,
  act: () => Promise<Imported | void>,
): AsyncGenerator<ImportedRelease> {
  const imported = await act().catch((error: unknown) => {
    if (error instanceof ProvenderError) return { refused: error };
    throw error;
  });
  if (imported !== undefined) yield { name, ...imported };
}

async function importRelease(
  parts: ImportParts,
  bundle: BundleFile,
  judged: JudgedRelease,
  signal: AbortSignal,
): Promise<Imported> {
  const { request, packages } = judged;
  const { address, entry, provider } = request;
  const { version } = address;
  const { catalog, settlements } = parts;
  // Those before it may have taken long.
  await entry.renew();
  const next = await takeBundled(await catalog.releases.peek(address), judged);
  const contact = await entry.findContact(provider.type);
  if (contact === undefined) throw new Error("first contact was not written");
  // The bundle stands for the list that its sender had, before any list here.
  const list = await catalog.versions.peek(provider);
  const listed = list?.versions.get(version) ?? {
    ...{ version, protocols: [], platforms: undefined },
    ...{ appeared: undefined, listed: true },
  };
  const firstContact = list?.firstContact ?? new Date(0);
  const versions = new Map([[version, listed]]);
  const by = {
    contact,
    list: { firstContact, versions, warnings: [], revision: 0 },
  };
  const served = settlements.preview(request, next, by);
  // A refusal comes before any archive is stored.
  if (!packages.every(({ sha256 }) => served.has(sha256)))
    await settle(parts, judged, next, by);
  const { blobs, hashes, reserve } = parts;
  const added: Sha256[] = [];
  for (const { sha256 } of packages) {
    signal.throwIfAborted();
    const size = bundle.sizeOf(sha256);
    const stored = await blobs.size(sha256);
    // A file that is cut short is as good as none.
    if (stored === (size ?? stored)) continue;
    const named = { subject: "the archive", size };
    await receiveWhole({ blobs, reserve }, named, async (spool, append) => {
      for await (const piece of bundle.read(sha256)) {
        signal.throwIfAborted();
        await append(piece);
      }
      // The bundle may have changed since it was verified.
      const got = spool.digest();
      if (got !== sha256)
        throw failure(
          "bundle-refused",
          sha256,
          `its content changed to ${got}`,
        );
      await blobs.commit(spool, sha256);
    });
    hashes.schedule(sha256, Promise.resolve());
    added.push(sha256);
  }
  await settle(parts, judged, next, by);
  for (const sha256 of added) await hashes.wait(sha256);
  return { added: added.length, present: packages.length - added.length };
}

/** Admits the release, as one that an origin offers. Throws its refusal, and release-conflict where other content is pinned. */
async function settle(
  { catalog, settlements }: ImportParts,
  judged: JudgedRelease,
  next: KnownRelease,
  by: SettledBy,
): Promise<void> {
  const { request, evidence, packages } = judged;
  const release = await settlements.settle(request, next, by);
  await catalog.releases.change(request.address, (known) => {
    const offered = addOffered(known, judged);
    return known.offered?.size === offered?.size
      ? known
      : { ...known, offered };
  });
  const isServed = packages.every(({ sha256 }) =>
    release.packages.values().some((found) => found.sha256 === sha256),
  );
  if (!isServed)
    throw failure("release-conflict", request.address, evidence.sha256sums);
}

/** Release whose verification material and archives in the bundle are valid. */
export interface JudgedRelease {
  readonly request: ReleaseRequest;
  readonly evidence: StoredEvidence;
  /** OS_ARCH of the platforms that the sender's registry offers. */
  readonly platforms: readonly string[];
  /** The packages to import; each is carried or stored. */
  readonly packages: readonly ReleasePackage[];
}

/**
 * Verifies one release as if an origin had offered it now: signature, digests, names and rules, all by local terms.
 * The manifest only selects packages; their names and content are the signed ones. Changes nothing. Throws the same
 * errors as the daemon would answer with, and bundle-incomplete.
 */
async function judgeRelease(
  parts: ImportParts,
  bundle: BundleFile,
  { provider, version, proof, platforms, archives }: BundledRelease,
): Promise<JudgedRelease> {
  const { catalog, admission } = parts;
  const address = { provider, version };
  const origin = catalog.originOf(provider);
  const request = await admission.openVersion(address, origin);
  const { policy, judge, clock } = origin;
  const now = clock.now();
  const prepared = prepareProof(address, proof, policy, judge.library, now);
  const evidence = await judgeEvidence(address, prepared, [], judge);
  const packages: ReleasePackage[] = [];
  for (const [name, claimed] of Object.entries(archives)) {
    const found = evidence.packages.get(name);
    if (found === undefined)
      throw failure(
        "archive-not-signed",
        formatRelease(address),
        formatArchiveName(provider, version, parsePlatform(name)),
      );
    const { filename, sha256 } = found;
    if (sha256 !== claimed)
      throw failure(
        ...(["checksum-conflict", filename, sha256, claimed] as const),
        "the bundle",
      );
    await expectAtHand(parts, bundle, sha256, filename);
    packages.push(found);
  }
  const names = [...platforms.map(formatPlatform), ...Object.keys(archives)];
  return { request, evidence, platforms: names, packages };
}

/**
 * Adds a bundled release to what is known. The carried keys are not what the registry publishes: they undo and restore
 * nothing, and those of its last answer count at once.
 */
export async function takeBundled(
  known: KnownRelease | undefined,
  judged: JudgedRelease,
): Promise<KnownRelease> {
  const before = known ?? unknownRelease;
  const { trust, keys } = before;
  const offered = addOffered(known, judged);
  const { evidence, request } = judged;
  if (trust.evidence.some(({ id }) => id === evidence.id))
    return { ...before, offered };
  const { address, origin } = request;
  const own =
    keys.length === 0
      ? evidence
      : await judgeAgain(evidence, address, keys, [], origin);
  return { ...before, trust: addEvidence(trust, own, isKept(trust)), offered };
}

/** Undefined where the platforms that are offered are not known. */
function addOffered(
  known: KnownRelease | undefined,
  { platforms }: JudgedRelease,
): KnownRelease["offered"] {
  const before = known === undefined ? [] : known.offered;
  return before && new Set([...before, ...platforms]);
}

async function expectAtHand(
  { blobs }: ImportParts,
  bundle: BundleFile,
  sha256: Sha256,
  name: string,
): Promise<void> {
  const size = bundle.sizeOf(sha256) ?? (await blobs.size(sha256));
  if (size === undefined) throw failure("bundle-incomplete", name);
}

/**
 * Makes first contact with each provider of a bundle that had none: by the versions
 * and keys that the bundle carries. Versions that a list shows later came later
 * (docs/trust.md, rule 3).
 */
export async function makeContacts(
  { events, clock }: Pick<ImportParts, "events" | "clock">,
  judged: readonly JudgedRelease[],
): Promise<void> {
  const providers = Map.groupBy(judged, ({ request }) =>
    formatProviderAddress(request.provider),
  );
  for (const releases of providers.values()) {
    const versions = releases.map(({ request }) => request.address.version);
    const [version] = orderCandidates(versions);
    const newest = releases.find((_, index) => versions[index] === version);
    if (newest === undefined) continue;
    const { request, evidence } = newest;
    const { entry, provider, address } = request;
    await entry.renew();
    if ((await entry.findContact(provider.type)) !== undefined) continue;
    const published = releases.flatMap(({ evidence: { proof, signedBy } }) => [
      ...listFingerprints(proof.keys),
      ...(signedBy === undefined ? [] : [signedBy]),
    ]);
    await writeContact(events, request, {
      ...{ id: randomUUID(), at: clock.now(), by: "bundle" },
      ...{ versions: new Set(versions), published: new Set(published) },
      ...{ key: evidence.signedBy, newest: address.version },
    });
  }
}

/** Decides on one module as if an origin had offered it now, and says whether it is known already. Throws what `ModuleMirror.judge` throws, and bundle-incomplete. */
async function judgeModule(
  parts: ImportParts,
  bundle: BundleFile,
  { module, version, commit, ...archive }: BundledModule,
): Promise<boolean> {
  const address = { module, version };
  const isKnown = await parts.modules.judge(address, { ...archive, commit });
  const name = formatModuleRelease(address);
  await expectAtHand(parts, bundle, archive.sha256, name);
  return isKnown;
}

/** Takes a module into the store as if it came from its registry: looked through, and pinned where it is the first content. */
async function importModule(
  parts: ImportParts,
  bundle: BundleFile,
  one: BundledModule,
): Promise<Imported> {
  const isKnown = await judgeModule(parts, bundle, one);
  const { module, version, ...archive } = one;
  const address = { module, version };
  if (isArchive(await parts.modules.find(address)))
    return { added: 0, present: 1 };
  const { sha256 } = archive;
  const size = bundle.sizeOf(sha256);
  // Another module may have the same archive.
  const body =
    size === undefined ? readStored(parts.blobs, one) : bundle.read(sha256);
  // A bundle cannot give other bytes to a commit that is known.
  const commit = isKnown ? undefined : one.commit;
  const carried = { body, size };
  await parts.modules.take(address, { ...archive, commit }, carried);
  return { added: 1, present: 0 };
}

async function* readStored(
  blobs: BlobStore,
  one: BundledModule,
): AsyncGenerator<Uint8Array> {
  const blob = await blobs.open(one.sha256);
  if (blob === undefined)
    throw failure("bundle-incomplete", formatModuleRelease(one));
  yield* blob.handle.createReadStream() as AsyncIterable<Uint8Array>;
}
