import type { Lie, OfferLie } from "./actions.ts";
import {
  digestOfArchive,
  digestOfDocument,
  platforms,
  sign,
  versions,
  writeChecksums,
  type ChecksumsText,
  type Digests,
  type SignedText,
} from "./documents.ts";
import { nameOfRelease } from "./publisher.ts";
import type { Registry } from "./registry.ts";

const [linux, windows, darwin] = platforms;
const month = 30 * 86_400_000;

/** Has the registry lie, or stop. `now` is the wall clock. */
export function applyLie(registry: Registry, lie: Lie, now: number): void {
  registry.changes++;
  switch (lie.kind) {
    case "offer":
      return registry.offer(lie, {
        signed: forge(registry, lie, now),
        keys: lie.keys,
      });
    case "replay":
      return replay(registry, lie);
    case "keys":
      return registry.publishKey(lie.key, lie.state);
    case "hide":
      return registry.hide(lie);
    case "fail":
      return registry.fail(lie.place, lie, lie.fault);
    case "down":
      registry.isDown = true;
      return;
    case "heal":
      return registry.heal();
  }
}

/** Makes a document that the publisher did not make. */
export function forge(
  registry: Registry,
  lie: OfferLie,
  now: number,
): SignedText {
  const digests = forgeDigests(registry, lie);
  const checksums =
    lie.content === "shared"
      ? writeShared(registry, lie)
      : writeChecksums(lie, digests);
  return sign(checksums, lie.signer, lie.dated === "now" ? now : now - month);
}

/** One document over every version of a provider. */
function writeShared(registry: Registry, lie: OfferLie): ChecksumsText {
  const parts = versions.map((version) => {
    const one: OfferLie = { ...lie, version, content: "other" };
    return writeChecksums(one, forgeDigests(registry, one));
  });
  const text = parts.map((one) => one.text).join("");
  const sha256sums = digestOfDocument(Buffer.from(text));
  const { type, version } = lie;
  const digests = forgeDigests(registry, lie);
  return { type, version, digests, text, sha256sums };
}

function forgeDigests(registry: Registry, lie: OfferLie): Digests {
  const evil = (platform: string) => {
    const label = `E ${nameOfRelease(lie)} ${platform} ${lie.variant}`;
    return digestOfArchive(label);
  };
  const honest = registry.publisher.findCurrent(lie)?.digests;
  const other = { [linux]: evil(linux), [windows]: evil(windows) };
  if (honest === undefined) return other;
  switch (lie.content) {
    case "other":
    case "shared":
      return other;
    // The publisher's archives, under a key that is not its own.
    case "same":
      return honest;
    case "wider":
      return { ...honest, [darwin]: evil(darwin) };
    case "narrower":
      return { [linux]: honest[linux] ?? evil(linux) };
    case "mixed":
      return { ...honest, [windows]: evil(windows) };
  }
}

/** Offers an earlier document of the publisher's again. */
function replay(
  registry: Registry,
  lie: Lie & { readonly kind: "replay" },
): void {
  const made = registry.publisher.listMade(lie);
  const signed = made[lie.which % Math.max(1, made.length)];
  if (signed !== undefined) registry.offer(lie, { signed, keys: "beside" });
}
