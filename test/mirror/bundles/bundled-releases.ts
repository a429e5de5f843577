import type { JudgedRelease } from "../../../src/mirror/bundles/import-bundle.ts";
import { verifyOffer } from "../../../src/mirror/releases/known-release.ts";
import type { Signer } from "../../fakes/signing.ts";
import type { MirrorInProcess } from "../../scenes/mirror-in-process.ts";
import { TestRegistry } from "../../scenes/test-registry.ts";

/** A release in a bundle. */
export interface Bundled {
  readonly version: string;
  readonly by: Signer;
  readonly type?: string;
  readonly keys?: readonly string[];
  /** A line more in SHA256SUMS. */
  readonly more?: string;
}

const { signal } = new AbortController();

/** A release as an import judged it. */
export async function judge(
  mirror: MirrorInProcess,
  { version, type = "thing", ...offered }: Bundled,
): Promise<JudgedRelease> {
  const sender = new TestRegistry();
  sender.offer(version, { content: "linux=a", ...offered }, type);
  const request = await mirror.request(version, type);
  const { address, provider } = request;
  const found = await sender.findAnyPackage(provider, address.version);
  const fetched = await sender.fetchChecksums(found, signal, provider);
  const evidence = await verifyOffer(mirror.origin, address, found, fetched);
  return { request, evidence, platforms: ["linux_amd64"], packages: [] };
}
