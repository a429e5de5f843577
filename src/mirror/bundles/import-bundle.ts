import { randomUUID } from "node:crypto";
import { formatArchiveName } from "../../address/archive-name.ts";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { addEvidence } from "../../trust/settle.ts";
import { readKeyNames } from "../../verification/fingerprints.ts";
import type { TrustedSha256 } from "../../verification/signed-checksums.ts";
import type { Clock } from "../cache/clock.ts";
import { receiveWhole, refuseForRoom, type Reserve } from "../archives/room.ts";
import type { ModuleArchives } from "../modules/archives.ts";
import type { ModuleMirror } from "../modules/module-mirror.ts";
import { formatModuleRelease, isArchive } from "../modules/release.ts";
import {
  goodEvidence,
  isKept,
  type KnownRelease,
  type StoredEvidence,
  unknownRelease,
} from "../releases/known-release.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import {
  bindPackages,
  formatRelease,
  type ReleaseAddress,
  type ReleasePackage,
} from "../releases/release.ts";
import {
  judgeProof,
  prepareProof,
  type ReleaseEvidence,
} from "../releases/verdict.ts";
import { orderCandidates, writeContact } from "../standings/first-contacts.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import type { Admission } from "../trust/admission.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { SettledBy, Settlements } from "../trust/settlements.ts";
import type { TrustEvents } from "../trust/trust-events.ts";
import { limitVersions } from "../versions/version-list.ts";
import type { BundleFile } from "./bundle-file.ts";
import type { BundledModule, BundledRelease } from "./manifest.ts";
import { parseProof } from "./proof.ts";

export interface ImportParts extends JudgingParts, ModuleImportParts {
  readonly retention: { readonly reserve: Reserve };
  readonly settlements: Settlements;
  readonly events: TrustEvents;
  readonly clock: Clock;
  readonly hashes: PackageHashes;
}

/**
 * Result for one release of a bundle, of a provider or of a module; `name` has
 * its version.
 */
type ImportedRelease =
  Imported | { readonly name: string; readonly refused: ProvenderError };

/**
 * Imports a bundle into the store. The whole file is read and verified before any write. Then releases are written
 * one by one, each archive before the record that names it. Stored content is not written again, so an interrupted
 * import continues where it stopped.
 */
export async function* importBundle(
  parts: ImportParts,
  bundle: BundleFile,
  signal: AbortSignal,
): AsyncGenerator<ImportedRelease> {
  await verifyBundle(parts, bundle, signal);
  const judged: JudgedRelease[] = [];
  const modules: BundledModule[] = [];
  const { manifest } = bundle;
  yield* judgeEach(manifest.releases, judged, nameOf, (entry) => {
    signal.throwIfAborted();
    return judgeRelease(parts, bundle, entry);
  });
  yield* judgeEach(manifest.modules, modules, nameOfModule, (entry) =>
    judgeModule(parts, bundle, entry),
  );
  const digests = new Set([
    ...judged.flatMap(({ packages }) => packages.map(({ sha256 }) => sha256)),
    ...modules.map(({ archive }) => archive.sha256),
  ]);
  // Archives of the bundle are not evicted to make room for it.
  const held = [...digests].map((sha256) => parts.blobs.usage.begin(sha256));
  try {
    await expectRoom(parts, bundle, digests);
    await makeContacts(parts, judged);
    for (const release of judged)
      yield await orRefused(nameOf(release.request), () =>
        importRelease(parts, bundle, release, signal),
      );
    for (const module of modules)
      yield await orRefused(nameOfModule(module), () =>
        importModule(parts, bundle, module, signal),
      );
  } finally {
    for (const letGo of held) letGo();
  }
}

function nameOf({ address }: { readonly address: ReleaseAddress }): string {
  return formatRelease(address);
}

function nameOfModule({ address }: BundledModule): string {
  return formatModuleRelease(address);
}

/** Yields what is refused, and appends the rest to `judged`. */
async function* judgeEach<E, T extends object>(
  entries: readonly E[],
  judged: T[],
  nameOf: (entry: E) => string,
  judge: (entry: E) => Promise<T>,
): AsyncGenerator<ImportedRelease> {
  for (const entry of entries) {
    const verdict = await orRefused(nameOf(entry), () => judge(entry));
    if ("refused" in verdict) yield verdict;
    else judged.push(verdict);
  }
}

/**
 * Throws store-full unless the whole bundle can be stored at once, after any
 * evictions.
 */
async function expectRoom(
  { blobs, retention }: ImportParts,
  bundle: BundleFile,
  digests: ReadonlySet<Sha256>,
): Promise<void> {
  const missing = new Map<Sha256, number>();
  for (const sha256 of digests) {
    const size = bundle.sizeOf(sha256) ?? 0;
    if ((await blobs.size(sha256)) !== size) missing.set(sha256, size);
  }
  const bytes = [...missing.values()].reduce((sum, size) => sum + size, 0);
  if (missing.size === 0) return;
  const room = await retention.reserve(bytes, () => 0);
  room?.release();
  if (room === undefined)
    throw refuseForRoom(`the ${bytes} bytes of the bundle`);
}

/**
 * Verifies the bundle. The copy of an archive that is stored already is not
 * used, so it is not read.
 */
async function verifyBundle(
  { blobs }: ImportParts,
  bundle: BundleFile,
  signal: AbortSignal,
): Promise<void> {
  await bundle.verifyFrame();
  const { proofs, archives, moduleArchives } = bundle.manifest;
  for (const { sha256 } of proofs) await bundle.verifyContent(sha256);
  for (const { sha256, size } of [...archives, ...moduleArchives]) {
    signal.throwIfAborted();
    if ((await blobs.size(sha256)) !== size) await bundle.verifyContent(sha256);
  }
}

/** A refusal is about one release; anything else ends the import. */
async function orRefused<T extends object>(
  name: string,
  act: () => Promise<T>,
): Promise<T | (ImportedRelease & { readonly refused: ProvenderError })> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    return { name, refused: error };
  }
}

async function importRelease(
  parts: ImportParts,
  bundle: BundleFile,
  judged: JudgedRelease,
  signal: AbortSignal,
): Promise<ImportedRelease> {
  const { request, packages } = judged;
  const { address, entry } = request;
  const { catalog, settlements } = parts;
  // Those before it may have taken long.
  await entry.renew();
  const known = await catalog.peekRelease(address);
  const next = takeBundled(known, judged);
  const by = await findGrounds(parts, judged);
  const served = settlements.preview(request, next, by);
  // A refusal comes before any archive is stored.
  if (!packages.every(({ sha256 }) => served.has(sha256)))
    await settle(parts, judged, next, by);
  const added: Sha256[] = [];
  for (const { sha256 } of packages) {
    signal.throwIfAborted();
    const stored = await parts.blobs.size(sha256);
    // A file that is cut short is as good as none.
    if (stored === (bundle.sizeOf(sha256) ?? stored)) continue;
    await storeArchive(parts, bundle, sha256, signal);
    added.push(sha256);
  }
  await settle(parts, judged, next, by);
  const present = packages.length - added.length;
  return { name: formatRelease(address), added, present };
}

/** The bundle stands for the list that its sender had. */
async function findGrounds(
  { catalog }: ImportParts,
  { request: { address, entry, provider } }: JudgedRelease,
): Promise<SettledBy> {
  const contact = await entry.findContact(provider.type);
  if (contact === undefined) throw new Error("first contact was not written");
  const list = await catalog.peekVersions(provider);
  const present = new Set([address.version]);
  return { contact, list: limitVersions(list, present) };
}

/** Admits the release, as one that an origin offers. */
async function settle(
  { settlements, catalog }: ImportParts,
  { request, evidence, packages }: JudgedRelease,
  next: KnownRelease,
  by: SettledBy,
): Promise<void> {
  const { release } = await settlements.settle(request, next, by);
  const now = await catalog.peekRelease(request.address);
  if (now !== undefined && now.offered?.size !== next.offered?.size)
    await settlements.keep(
      ...([request.address, { ...now, offered: next.offered }, now] as const),
    );
  const isServed = packages.every(({ sha256 }) =>
    release.packages.values().some((found) => found.sha256 === sha256),
  );
  if (!isServed)
    throw failure("release-conflict", request.address, evidence.sha256sums);
}

/** Hashed again while it is copied, because the bundle may have changed since it was verified. */
async function storeArchive(
  { blobs, hashes, retention }: ImportParts,
  bundle: BundleFile,
  sha256: TrustedSha256,
  signal: AbortSignal,
): Promise<void> {
  const reserve: Reserve = (...asked) => retention.reserve(...asked);
  const store = { blobs, reserve };
  const named = { subject: "the archive", size: bundle.sizeOf(sha256) };
  await receiveWhole(store, named, async (spool, append) => {
    for await (const piece of bundle.read(sha256)) {
      signal.throwIfAborted();
      await append(piece);
    }
    const got = spool.digest();
    if (got !== sha256)
      throw failure("bundle-refused", sha256, `its content changed to ${got}`);
    await blobs.commit(spool, sha256);
  });
  hashes.schedule(sha256, Promise.resolve());
}

interface JudgingParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly blobs: BlobStore;
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
 * Changes nothing.
 */
async function judgeRelease(
  parts: JudgingParts,
  bundle: BundleFile,
  entry: BundledRelease,
): Promise<JudgedRelease> {
  const { catalog, admission } = parts;
  const { address, platforms } = entry;
  const { rules } = admission;
  const origin = catalog.originOf(address.provider);
  const request = await admission.openVersion(address, { origin, rules });
  const known = await catalog.peekRelease(address);
  const evidence = await verify(request, bundle, entry, known);
  const packages = [...entry.archives].map(([name, sha256]) =>
    findSigned(address, evidence, name, sha256),
  );
  await expectAtHand(parts, bundle, packages);
  const names = [...platforms.map(formatPlatform), ...entry.archives.keys()];
  return { request, evidence, platforms: names, packages };
}

/** Adds a bundled release to what is known. The carried keys are not what the registry publishes now: they undo and restore nothing. */
export function takeBundled(
  known: KnownRelease | undefined,
  { evidence, platforms }: JudgedRelease,
): KnownRelease {
  const before = known ?? unknownRelease;
  const { trust, offered } = before;
  const isKnown = trust.evidence.some(({ id }) => id === evidence.id);
  const names = known === undefined ? [] : offered;
  return {
    ...before,
    trust: isKnown ? trust : addEvidence(trust, evidence, isKept(trust)),
    // The registry's keys judge it at the next look-up, be they the same as before.
    keys: isKnown ? before.keys : [],
    offered: names && new Set([...names, ...platforms]),
  };
}

/** Verifies the carried proof; one that was left out has to be known. */
async function verify(
  { origin }: ReleaseRequest,
  bundle: BundleFile,
  { address, proof }: BundledRelease,
  known: KnownRelease | undefined,
): Promise<StoredEvidence> {
  if (!bundle.carries(proof)) {
    const newest = known?.trust.evidence.findLast(({ isGood }) => isGood);
    if (newest === undefined)
      throw failure("bundle-incomplete", formatRelease(address));
    return newest;
  }
  const { policy, judge, clock } = origin;
  const claim = readEvidence(address, await bundle.readProof(proof));
  const now = clock.now();
  const prepared = prepareProof(address, claim, policy, judge.library, now);
  const checksums = await judgeProof(address, prepared, judge);
  return goodEvidence(address, prepared, [], checksums);
}

function readEvidence(
  address: ReleaseAddress,
  bytes: Uint8Array,
): ReleaseEvidence {
  try {
    return parseProof(bytes);
  } catch (cause) {
    const name = `The proof of ${formatRelease(address)}`;
    throw failure("bundle-refused", name, "it is not in a form that is known", {
      cause,
    });
  }
}

/**
 * Finds the signed packages. The manifest only selects them; their names and
 * content are the signed ones.
 */
function findSigned(
  address: ReleaseAddress,
  { checksums }: StoredEvidence,
  name: string,
  claimed: Sha256,
): ReleasePackage {
  const platform = parsePlatform(name);
  const found = checksums && bindPackages(address, checksums, [platform]);
  const signed = found?.get(name);
  if (signed === undefined) {
    const { provider, version } = address;
    const filename = formatArchiveName(provider, version, platform);
    throw failure("archive-not-signed", formatRelease(address), filename);
  }
  const { filename, sha256 } = signed;
  if (sha256 !== claimed)
    throw failure("checksum-conflict", filename, sha256, claimed, "the bundle");
  return signed;
}

async function expectAtHand(
  { blobs }: JudgingParts,
  bundle: BundleFile,
  packages: readonly ReleasePackage[],
): Promise<void> {
  for (const { filename, sha256 } of packages)
    if (!bundle.carries(sha256) && (await blobs.size(sha256)) === undefined)
      throw failure("bundle-incomplete", filename);
}

/**
 * Makes first contact with each provider of a bundle that had none: by the versions
 * and keys that the bundle carries. Versions that a list shows later came later
 * (docs/trust.md, rule 3).
 */
export async function makeContacts(
  { events, clock }: { readonly events: TrustEvents; readonly clock: Clock },
  judged: readonly JudgedRelease[],
): Promise<void> {
  const providers = Map.groupBy(judged, ({ request }) =>
    formatProviderAddress(request.provider),
  );
  for (const releases of providers.values()) {
    const newest = findNewest(releases);
    if (newest === undefined) continue;
    const { request, evidence } = newest;
    const { entry, provider, address } = request;
    await entry.renew();
    if ((await entry.findContact(provider.type)) !== undefined) continue;
    await writeContact(events, request, {
      id: randomUUID(),
      at: clock.now(),
      by: "bundle",
      versions: new Set(releases.map(versionOf)),
      published: new Set(releases.flatMap(listKeys)),
      key: evidence.signedBy,
      newest: address.version,
    });
  }
}

function findNewest(
  releases: readonly JudgedRelease[],
): JudgedRelease | undefined {
  const [version] = orderCandidates(releases.map(versionOf));
  return releases.find((one) => versionOf(one) === version);
}

function versionOf({ request }: JudgedRelease) {
  return request.address.version;
}

function listKeys({ evidence }: JudgedRelease): readonly string[] {
  const { proof, signedBy } = evidence;
  const named = [...readKeyNames(proof.keys).keys()];
  return signedBy === undefined ? named : [...named, signedBy];
}

interface ModuleImportParts {
  readonly modules: ModuleMirror;
  readonly moduleArchives: ModuleArchives;
  readonly blobs: BlobStore;
}

/** A release of a bundle, of a module or of a provider, that is in the store now; `name` has its version. */
interface Imported {
  readonly name: string;
  /** Archives that were not stored before. */
  readonly added: readonly Sha256[];
  /** Archives that were stored already. */
  readonly present: number;
}

/** Decides on one module as if an origin had offered it now: rules, and what clients get of it. */
async function judgeModule(
  { modules, moduleArchives, blobs }: ModuleImportParts,
  bundle: BundleFile,
  one: BundledModule,
): Promise<BundledModule> {
  const { address, archive } = one;
  await modules.admit(address);
  const { sha256 } = archive;
  const isKnown = await moduleArchives.expectSame(address, archive);
  if (!bundle.carries(sha256) && (await blobs.size(sha256)) === undefined)
    throw failure("bundle-incomplete", formatModuleRelease(address));
  // A bundle cannot give other bytes to a commit that is known.
  return isKnown
    ? { address, archive: { ...archive, commit: undefined } }
    : one;
}

/**
 * Takes a module into the store as if it came from its registry: looked through, and pinned where it is the first
 * content.
 */
async function importModule(
  parts: ModuleImportParts,
  bundle: BundleFile,
  one: BundledModule,
  signal: AbortSignal,
): Promise<Imported> {
  const { address, archive } = await judgeModule(parts, bundle, one);
  const { sha256, commit, format, subdirectory } = archive;
  const name = formatModuleRelease(address);
  if (isArchive(await parts.moduleArchives.find(address)))
    return { name, added: [], present: 1 };
  const body = bundle.carries(sha256)
    ? bundle.read(sha256)
    : readStored(parts.blobs, one);
  const close = () => Promise.resolve();
  const opened = { body, size: bundle.sizeOf(sha256), commit, close };
  const start = {
    ...{ hostname: address.module.hostname, host: "the bundle" },
    ...{ format, subdirectory, place: undefined },
    checksum: { algorithm: "sha256", digest: sha256 } as const,
    open: () => Promise.resolve(opened),
  };
  await parts.moduleArchives.fetch(address, start, signal);
  return { name, added: [sha256], present: 0 };
}

/** Another module has the same archive. */
async function* readStored(
  blobs: BlobStore,
  { address, archive }: BundledModule,
): AsyncGenerator<Uint8Array> {
  const blob = await blobs.open(archive.sha256);
  if (blob === undefined)
    throw failure("bundle-incomplete", formatModuleRelease(address));
  yield* blob.handle.createReadStream() as AsyncIterable<Uint8Array>;
}
