import { makeArchive, type ArchiveOptions } from "./archive.ts";
import { defaultSigner, type Signer } from "./signing.ts";

export interface ReleaseOptions extends Pick<
  ArchiveOptions,
  "size" | "content" | "beside" | "seed"
> {
  /** `acme` by default. */
  readonly namespace?: string;
  /** `widget` by default. */
  readonly type?: string;
  readonly version: string;
  /** `["linux_amd64"]` by default. */
  readonly platforms?: readonly string[];
  readonly signer?: Signer;
  readonly signedAt?: Date;
  /** `["5.0"]` by default. */
  readonly protocols?: readonly string[];
  /** Names archives otherwise than usual, by OS_ARCH. */
  readonly nameArchive?: (platform: string) => string;
  /** Changes SHA256SUMS before it is signed. */
  readonly editChecksums?: (text: string) => string;
}

export type ReleaseArchive = Awaited<ReturnType<typeof releaseArchive>>;
export type Release = Awaited<ReturnType<typeof makeRelease>>;

/** Of the archive for linux_amd64. */
export const sha256Of = (release: Release): string =>
  release.archive("linux_amd64").sha256;

/** Everything a publisher makes for one version, signed. */
export async function makeRelease(options: ReleaseOptions) {
  const { namespace = "acme", type = "widget", version } = options;
  const { platforms = ["linux_amd64"], protocols = ["5.0"] } = options;
  const signer = options.signer ?? (await defaultSigner());
  const archives: ReleaseArchive[] = [];
  for (const platform of platforms)
    archives.push(await releaseArchive(type, platform, options));
  const lines = archives.map(
    ({ sha256, filename }) => `${sha256}  ${filename}\n`,
  );
  const edit = options.editChecksums ?? ((text) => text);
  const checksums = edit(lines.join(""));
  return {
    ...{ options, namespace, type, version, protocols, platforms, signer },
    archives: archives as readonly ReleaseArchive[],
    /** The text of SHA256SUMS. */
    checksums,
    /** The binary detached signature over `checksums`. */
    signature: await signer.sign(Buffer.from(checksums), options.signedAt),
    /** Throws for a platform that the release does not have. */
    archive: (platform: string): ReleaseArchive => {
      const found = archives.find((archive) => archive.platform === platform);
      if (found === undefined) throw new Error(`not released for ${platform}`);
      return found;
    },
  };
}

async function releaseArchive(
  type: string,
  platform: string,
  options: ReleaseOptions,
) {
  const [os = "", arch = ""] = platform.split("_");
  const { version, size, content, seed, beside } = options;
  const made = { type, version, os, arch, size, content, seed, beside };
  const archive = await makeArchive(made);
  const filename =
    options.nameArchive?.(platform) ??
    `terraform-provider-${type}_${version}_${platform}.zip`;
  return { ...archive, platform, os, arch, filename };
}
