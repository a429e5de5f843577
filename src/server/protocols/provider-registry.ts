import { formatChecksumsName } from "../../address/archive-name.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { Answer, Within } from "../../mirror/cache/metadata-cache.ts";
import type { PlatformArchives } from "../../mirror/providers/ensured-archive.ts";
import type {
  AdmittedPackage,
  AdmittedRelease,
  MirroredPackage,
  ProviderMirror,
} from "../../mirror/providers/provider-mirror.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import { formatLeftOut, type LeftOut } from "../../mirror/trust/left-out.ts";
import type { VersionList } from "../../mirror/versions/version-list.ts";
import {
  renderBytes,
  renderDocument,
  rendersOnce,
  sendDocument,
} from "../http/document-response.ts";
import { noteLeftOut, type RoutedContext } from "../http/request-context.ts";
import {
  type ProtocolParts,
  readProvider,
  readRelease,
  withinFor,
} from "./asked.ts";

const renderVersionsOnce = rendersOnce(renderVersions);

export type ProviderRegistry = ReturnType<typeof makeProviderRegistry>;

/**
 * The provider registry protocol (`providers.v1`) over what the mirror holds:
 * clients get the publisher's own checksums, signature and keys and judge for
 * themselves. Archives are those of the network mirror.
 */
export function makeProviderRegistry(
  mirror: ProviderMirror,
  platforms: PlatformArchives,
  { authentication, publicAddress }: ProtocolParts,
) {
  /** What clients can judge. A release that was known without keys and is out of date is waited for: its publisher may have added some. */
  async function findToVerify<V extends AdmittedRelease>(
    ctx: RoutedContext,
    find: (within?: Within) => Promise<Answer<V>>,
  ): Promise<Answer<V>> {
    const known = await find(withinFor(ctx));
    if (findMissing(known.value) === undefined) return known;
    const answer = await find();
    const missing = findMissing(answer.value);
    if (missing === undefined) return answer;
    const name = formatRelease(answer.value.request.address);
    throw failure("nothing-to-verify", name, missing);
  }

  /** Packages of all platforms that are stored; none without the package's own size, because clients measure the archive by it. */
  async function listSized(
    admitted: AdmittedPackage,
  ): Promise<readonly SizedPackage[]> {
    const { release, found } = admitted;
    const described = await mirror.describePackages(admitted);
    const sized = await Promise.all(
      described.map(async (one): Promise<readonly SizedPackage[]> => {
        const own = release.packages.get(formatPlatform(one.platform));
        const size = own && (await mirror.findSize(own));
        return size === undefined ? [] : [{ ...one, size }];
      }),
    );
    const packages = sized.flat();
    const isMeasured = packages.some((one) => one.filename === found.filename);
    return isMeasured ? packages : [];
  }

  return {
    async versions(ctx: RoutedContext): Promise<void> {
      const provider = readProvider(ctx.params);
      const answer = await mirror.listVersions(provider, withinFor(ctx));
      const { versions, list, leftOut } = answer.value;
      noteLeftOut(ctx.state, answer.value);
      const document = renderVersionsOnce(versions, provider, list, leftOut);
      sendDocument(ctx, document, answer);
    },

    /** One version, for programs that look for its changelog; says what is known alone. */
    async version(ctx: RoutedContext): Promise<void> {
      const address = readRelease(ctx.params);
      const answer = await mirror.findRelease(address, withinFor(ctx));
      const { list } = answer.value;
      const document = renderDocument(renderVersion(address, list));
      sendDocument(ctx, document, answer);
    },

    async package(ctx: RoutedContext): Promise<void> {
      const address = readRelease(ctx.params);
      const platform = parsePlatform(`${ctx.params.os}_${ctx.params.arch}`);
      const answer = await findToVerify(ctx, (within) =>
        mirror.findPackage(address, platform, within),
      );
      const admitted = answer.value;
      const packages = await listSized(admitted);
      platforms.want(admitted);
      const { asker, path } = ctx.state;
      const root = publicAddress.rootFor(ctx.req, path);
      const locate = (folder: string, filename: string) =>
        `${root}${folder.slice(1)}${authentication.locate(folder, filename, asker.token)}`;
      const document = renderPackage(admitted, packages, locate);
      sendDocument(ctx, renderDocument(document), answer);
    },

    /** SHA256SUMS or its signature, as they were verified. */
    async proof(ctx: RoutedContext): Promise<void> {
      const address = readRelease(ctx.params);
      const filename = ctx.params.proof;
      const name = formatChecksumsName(address.provider, address.version);
      if (filename !== name && filename !== `${name}.sig`)
        throw failure("no-such-page");
      const answer = await findToVerify(ctx, (within) =>
        mirror.findRelease(address, within),
      );
      const { document, signature } = answer.value.release.proof;
      const rendered =
        filename === name
          ? renderBytes("text/plain", document)
          : renderBytes("application/octet-stream", signature ?? "");
      sendDocument(ctx, rendered, answer);
    },
  };
}

/**
 * Renders `versions` ("List Available Versions"), as the origin gave them;
 * `list` has the origin's facts. Clients print the warnings, which begin with
 * the versions that the mirror leaves out.
 * Versions share their lists of platforms, each of which is rendered once. For
 * some thousand versions they would block the event loop otherwise.
 */
function renderVersions(
  versions: readonly Version[],
  { namespace, type }: ProviderAddress,
  list: VersionList | undefined,
  leftOut: readonly LeftOut[],
): string {
  const written = new Map<readonly Platform[], string>();
  const write = (platforms: readonly Platform[]) => {
    const text = written.get(platforms) ?? JSON.stringify(platforms);
    written.set(platforms, text);
    return `,"platforms":${text}`;
  };
  const entries = versions.map((version) => {
    const { protocols = [], platforms } = list?.versions.get(version) ?? {};
    const named = `"version":"${version}","protocols":${JSON.stringify(protocols)}`;
    return `{${named}${platforms === undefined ? "" : write(platforms)}}`;
  });
  const id = JSON.stringify(`${namespace}/${type}`);
  const own = formatLeftOut(leftOut);
  const warnings = JSON.stringify([...own, ...(list?.warnings ?? [])]);
  return `{"id":${id},"versions":[${entries.join()}],"warnings":${warnings}}`;
}

/** `VERSION` as registry.terraform.io has it, with what the protocol says of one. */
function renderVersion(
  { provider: { namespace, type }, version }: ReleaseAddress,
  list: VersionList | undefined,
): object {
  const { protocols = [] } = list?.versions.get(version) ?? {};
  return {
    ...{ id: `${namespace}/${type}/${version}`, namespace },
    ...{ name: type, version },
    ...(protocols.length > 0 && { protocols }),
  };
}

/**
 * `VERSION/download/OS/ARCH` ("Find a Provider Package"), with `packages` as registry.opentofu.org has it. `locate` returns
 * the URL of a file in a folder of the mirror, an absolute path that ends in a slash; clients send no token there.
 */
function renderPackage(
  { request, release, list, found }: AdmittedPackage,
  packages: readonly SizedPackage[],
  locate: (folder: string, filename: string) => string,
): object {
  const { provider, version } = request.address;
  const { platform, filename, signedName, sha256 } = found;
  const name = formatProviderAddress(provider);
  const checksums = formatChecksumsName(provider, version);
  const proof = `/v1/providers/${name}/${version}/`;
  const sized = packages.map(({ platform, hashes, size }) => [
    formatPlatform(platform),
    { hashes, package_size: size },
  ]);
  return {
    protocols: list?.versions.get(version)?.protocols ?? [],
    os: platform.os,
    arch: platform.arch,
    // Clients look it up in SHA256SUMS.
    filename: signedName,
    download_url: locate(`/providers/${name}/`, filename),
    shasums_url: locate(proof, checksums),
    shasums_signature_url: locate(proof, `${checksums}.sig`),
    shasum: sha256,
    signing_keys: { gpg_public_keys: renderKeys(release) },
    ...(sized.length > 0 && {
      packages: Object.fromEntries(sized) as Record<string, object>,
    }),
  };
}

/** The keys as their registry published them. */
function renderKeys({
  proof: { keys },
  checksums: { signedBy },
  keyLabels,
}: Release): readonly object[] {
  // The low 64 bits of a version 4 fingerprint, the high ones of a version 6 fingerprint (RFC 9580, 5.5.4).
  const keyId =
    signedBy?.length === 40 ? signedBy.slice(-16) : signedBy?.slice(0, 16);
  const only = keys.length === 1 ? keyId : undefined;
  return keys.map((armor, index) => {
    const label = keyLabels[index] ?? { key_id: only };
    return {
      key_id: label.key_id,
      ascii_armor: armor,
      trust_signature: label.trust_signature ?? "",
      source: label.source ?? "",
      source_url: label.source_url ?? null,
    };
  });
}

interface SizedPackage extends MirroredPackage {
  /** Bytes. */
  readonly size: number;
}

/** The registry of which clients take packages without signing keys (OpenTofu, "ShouldEnforceGPGValidationForProvider"). */
const unsignedRegistry = "registry.opentofu.org";

/** What clients would miss who judge a release for themselves. */
function findMissing({ request, release }: AdmittedRelease) {
  const { keys, signature } = release.proof;
  if (keys.length > 0) return signature === undefined ? "signature" : undefined;
  const { hostname } = request.address.provider;
  return hostname === unsignedRegistry ? undefined : "signing key";
}
