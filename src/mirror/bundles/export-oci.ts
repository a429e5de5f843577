import { hash } from "node:crypto";
import * as z from "zod";
import { formatPlatform } from "../../address/platform.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import {
  byVersion,
  makeFolder,
  placeArchive,
  placeDocument,
  readShaped,
  writeProviders,
  type ExportedPackage,
  type ExportParts,
  type FailedExport,
} from "./export-tree.ts";

const imageManifest = "application/vnd.oci.image.manifest.v1+json";
const imageIndex = "application/vnd.oci.image.index.v1+json";
const refName = "org.opencontainers.image.ref.name";

/**
 * Artifact types that OpenTofu requires ("Provider Mirrors in OCI Registries").
 */
const providerArtifact = "application/vnd.opentofu.provider";
const packageArtifact = "application/vnd.opentofu.provider-target";
const packageLayer = "archive/zip";
const emptyConfig = "application/vnd.oci.empty.v1+json";

const descriptorShape = z.looseObject({
  annotations: z.record(z.string(), z.string()).optional(),
});
const layoutShape = z.looseObject({ manifests: z.array(descriptorShape) });

/**
 * Writes an OCI image layout for each provider, as DIR/HOSTNAME/NAMESPACE/TYPE.
 * Each version is an artifact, whose tag is the version with `_` for each `+`.
 * New versions join existing ones. An existing version gets the platforms of
 * this export. Contents first, the index last, so that it never names what is not there.
 */
export function writeOciLayouts(
  directory: string,
  parts: ExportParts,
  packages: readonly ExportedPackage[],
  signal: AbortSignal,
): Promise<readonly FailedExport[]> {
  return writeProviders(directory, parts, packages, async (folder, group) => {
    const place = ["blobs", "sha256"];
    const blobs = await makeFolder(folder, place, parts.stored);
    const tagged: z.infer<typeof descriptorShape>[] = [];
    for (const [version, exported] of byVersion(group)) {
      const manifests: object[] = [];
      for (const one of exported) {
        signal.throwIfAborted();
        manifests.push(await writePackage(blobs, parts.blobs, one));
      }
      const type = { mediaType: imageIndex, artifactType: providerArtifact };
      const index = await put(blobs, { schemaVersion: 2, ...type, manifests });
      const annotations = { [refName]: version.replaceAll("+", "_") };
      tagged.push({ ...type, ...index, annotations });
    }
    const layout = { imageLayoutVersion: "1.0.0" };
    await placeDocument(folder, "oci-layout", JSON.stringify(layout));
    const tags = new Set(tagged.map((one) => one.annotations?.[refName]));
    const what = "the index of a layout";
    const found = await readShaped(folder, "index.json", layoutShape, what);
    const kept = (found?.manifests ?? []).filter(
      (one) => !tags.has(one.annotations?.[refName]),
    );
    const manifests = [...kept, ...tagged];
    const index = { schemaVersion: 2, mediaType: imageIndex, manifests };
    await placeDocument(folder, "index.json", JSON.stringify(index, null, 2));
  });
}

/** Returns the descriptor of its manifest. */
async function writePackage(
  folder: string,
  blobs: BlobStore,
  { found: { sha256, filename, platform }, size }: ExportedPackage,
): Promise<object> {
  await placeArchive(folder, sha256, sha256, blobs);
  const type = { mediaType: imageManifest, artifactType: packageArtifact };
  const titled = (title: string) => ({
    annotations: { "org.opencontainers.image.title": title },
  });
  const layer = { mediaType: packageLayer, digest: `sha256:${sha256}`, size };
  const manifest = await put(folder, {
    ...{ schemaVersion: 2, ...type },
    config: { mediaType: emptyConfig, ...(await put(folder, {})) },
    layers: [{ ...layer, ...titled(filename) }],
    ...titled(formatPlatform(platform)),
  });
  const { os, arch: architecture } = platform;
  return { ...type, ...manifest, platform: { architecture, os } };
}

/** Writes a document as a blob; returns what descriptors say of it. */
async function put(folder: string, document: object) {
  const text = JSON.stringify(document);
  const sha256 = hash("sha256", text);
  await placeDocument(folder, sha256, text);
  return { digest: `sha256:${sha256}`, size: Buffer.byteLength(text) };
}
