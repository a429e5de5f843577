import type { Sha256 } from "../../address/hash.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { TrustedSha256 } from "../../verification/signed-checksums.ts";
import type { BundleFile } from "./bundle-file.ts";
import {
  judgeRelease,
  takeBundled,
  type JudgedRelease,
  type JudgingParts,
} from "./import-judgement.ts";
import {
  importModule,
  judgeModule,
  type Imported,
  type ModuleImportParts,
} from "./import-modules.ts";
import type { BundledModule } from "./manifest.ts";
import { formatModuleRelease } from "../modules/release.ts";
import { makeContacts } from "./import-contacts.ts";
import { refuseForRoom, type Reserve } from "../cache/download-steps.ts";
import type { Clock } from "../cache/clock.ts";
import { receiveWhole } from "../cache/receive-whole.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { KnownRelease } from "../releases/known-release.ts";
import { formatRelease, type ReleaseAddress } from "../releases/release.ts";
import { limitVersions } from "../versions/version-list.ts";
import type { SettledBy, Settlements } from "../trust/settlements.ts";
import type { TrustEvents } from "../trust/trust-events.ts";

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
 * Imports a bundle into the store. The whole file is read and verified before
 * any write. Then releases are written one by one, each archive before the
 * record that names it.
 * Stored content is not written again, so an interrupted import continues where
 * it stopped. Throws bundle-refused, and store-full before any write if the
 * whole does not fit.
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

/** Admits the release, as one that an origin offers. Throws its refusal, and release-conflict where other content is pinned. */
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
