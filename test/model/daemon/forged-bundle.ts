import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compareVersions, parseVersion } from "../../../src/address/version.ts";
import { formatProof } from "../../../src/mirror/bundles/manifest.ts";
import { putTogether } from "../../mirror/bundles/bundles.ts";
import { scratch } from "../../running-mirror.ts";
import { archiveBytes } from "../world/documents.ts";
import type { Offer } from "../world/registry.ts";
import { hostname, namespace } from "../world/settings.ts";
import type { RealKeys } from "./real-keys.ts";

/** Writes a bundle of these offers, as a site wrote it that was offered them. Returns its path. */
export async function writeOffers(
  offers: readonly Offer[],
  keys: RealKeys,
): Promise<string> {
  const releases = await Promise.all(
    offers.toSorted(byRelease).map(async (offer) => ({
      ...{ offer, proof: await proofOf(offer, keys) },
    })),
  );
  const archives = new Set(
    offers.flatMap(({ signed }) => Object.values(signed.digests)),
  );
  const proofs = sortedOnce(releases.map(({ proof }) => proof));
  const carried = sortedOnce(
    [...archives].map((sha256) => archiveBytes(sha256) ?? Buffer.alloc(0)),
  );
  const bundle = putTogether({
    manifest: {
      format: "provender-bundle/1",
      releases: releases.map(({ offer: { signed }, proof }) => ({
        provider: `${hostname}/${namespace}/${signed.type}`,
        version: signed.version,
        proof: digestOf(proof),
        platforms: Object.keys(signed.digests).toSorted(),
        archives: Object.fromEntries(Object.entries(signed.digests).toSorted()),
      })),
      modules: [],
      proofs: proofs.map(describe),
      archives: carried.map(describe),
      moduleArchives: [],
    },
    members: [
      ...proofs.map((bytes) => ({
        name: `proofs/${digestOf(bytes)}.json`,
        bytes,
      })),
      ...carried.map((bytes) => ({
        ...{ name: `archives/${digestOf(bytes)}.zip`, bytes },
      })),
    ],
  });
  const file = join(scratch("bundle"), "bundle.tar");
  writeFileSync(file, bundle);
  return file;
}

/** A bundle carries nothing of how its writer judged. */
const unread = {
  profile: "terraform",
  exemption: undefined,
  verifiedAt: new Date(0),
  library: "",
} as const;

async function proofOf(
  { signed, blocks }: Offer,
  keys: RealKeys,
): Promise<Buffer> {
  return formatProof({
    document: Buffer.from(signed.text),
    signature: await keys.sign(signed),
    keys: blocks.map((block) => keys.publish(block)),
    ...unread,
  });
}

function describe(bytes: Buffer) {
  return { sha256: digestOf(bytes), size: bytes.length };
}

function byRelease({ signed: one }: Offer, { signed: other }: Offer): number {
  if (one.type !== other.type) return one.type < other.type ? -1 : 1;
  return compareVersions(
    parseVersion(one.version),
    parseVersion(other.version),
  );
}

/** Sorts by digest, each once, as the canonical form of a manifest has them. */
function sortedOnce(all: readonly Buffer[]): readonly Buffer[] {
  const byDigest = new Map(all.map((bytes) => [digestOf(bytes), bytes]));
  return [...byDigest]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, bytes]) => bytes);
}

function digestOf(bytes: Buffer): string {
  return hash("sha256", bytes);
}
