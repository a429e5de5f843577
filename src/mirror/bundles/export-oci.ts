import { hash } from "node:crypto";
import { z } from "zod";
import { formatPlatform } from "../../address/platform.ts";
import { makeFolder, placeDocument, readShaped } from "./export-folder.ts";
import {
  byProvider,
  byVersion,
  placeArchive,
  writeEach,
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

const emptyConfig = "{}";

const descriptorShape = z.looseObject({
  annotations: z.record(z.string(), z.string()).optional(),
});
const layoutShape = z.looseObject({ manifests: z.array(descriptorShape) });

interface Content {
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Writes an OCI image layout for each provider, as DIR/HOSTNAME/NAMESPACE/TYPE.
 * Each version is an artifact, whose tag is the version with `_` for each `+`.
 * New versions join existing ones. An existing version gets the platforms of
 * this export.
 */
export function writeOciLayouts(
  directory: string,
  parts: Omit<ExportParts, "providers">,
  packages: readonly ExportedPackage[],
  signal: AbortSignal,
): Promise<readonly FailedExport[]> {
  return writeEach(byProvider(packages), (group, subject) =>
    writeLayout(directory, subject.split("/"), parts, group, signal),
  );
}

/** Contents first, the index last, so that it never names what is not there. */
async function writeLayout(
  directory: string,
  name: readonly string[],
  parts: Omit<ExportParts, "providers">,
  packages: readonly ExportedPackage[],
  signal: AbortSignal,
): Promise<void> {
  const storage = parts.layout.directory;
  const folder = await makeFolder(directory, name, storage);
  const blobs = await makeFolder(folder, ["blobs", "sha256"], storage);
  const tagged: object[] = [];
  for (const [version, group] of byVersion(packages)) {
    const manifests: object[] = [];
    for (const one of group) {
      signal.throwIfAborted();
      manifests.push(await writePackage(blobs, parts, one));
    }
    const index = await writeJson(blobs, {
      schemaVersion: 2,
      mediaType: imageIndex,
      artifactType: providerArtifact,
      manifests,
    });
    const tag = version.replaceAll("+", "_");
    const annotations = { [refName]: tag };
    const artifactType = providerArtifact;
    tagged.push({ mediaType: imageIndex, artifactType, ...index, annotations });
  }
  const layout = { imageLayoutVersion: "1.0.0" };
  await placeDocument(folder, "oci-layout", JSON.stringify(layout));
  await joinIndex(folder, tagged);
}

/** Returns the descriptor of its manifest. */
async function writePackage(
  blobs: string,
  parts: Omit<ExportParts, "providers">,
  { found: { sha256, filename, platform }, size }: ExportedPackage,
): Promise<object> {
  await placeArchive(blobs, sha256, sha256, parts.blobs);
  const config = await writeText(blobs, emptyConfig);
  const manifest = await writeJson(blobs, {
    schemaVersion: 2,
    mediaType: imageManifest,
    artifactType: packageArtifact,
    config: { mediaType: "application/vnd.oci.empty.v1+json", ...config },
    layers: [
      {
        mediaType: packageLayer,
        digest: `sha256:${sha256}`,
        size,
        annotations: { "org.opencontainers.image.title": filename },
      },
    ],
    annotations: { "org.opencontainers.image.title": formatPlatform(platform) },
  });
  const { os, arch: architecture } = platform;
  return {
    mediaType: imageManifest,
    artifactType: packageArtifact,
    ...manifest,
    platform: { architecture, os },
  };
}

async function joinIndex(
  folder: string,
  tagged: readonly object[],
): Promise<void> {
  const added = layoutShape.parse({ manifests: tagged }).manifests;
  const tags = new Set(added.map((one) => one.annotations?.[refName]));
  const what = "the index of a layout";
  const found = await readShaped(folder, "index.json", layoutShape, what);
  const kept = (found?.manifests ?? []).filter(
    (one) => !tags.has(one.annotations?.[refName]),
  );
  const index = {
    schemaVersion: 2,
    mediaType: imageIndex,
    manifests: [...kept, ...added],
  };
  await placeDocument(folder, "index.json", JSON.stringify(index, null, 2));
}

function writeJson(blobs: string, document: object): Promise<Content> {
  return writeText(blobs, JSON.stringify(document));
}

async function writeText(blobs: string, text: string): Promise<Content> {
  const sha256 = hash("sha256", text);
  await placeDocument(blobs, sha256, text);
  return { digest: `sha256:${sha256}`, size: Buffer.byteLength(text) };
}
