import { formatChecksumsName } from "../../address/archive-name.ts";
import { parsePlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { NoSuchPage, NothingToVerify } from "../../errors/index.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import {
  findPublishedPackage,
  findPublishedProof,
} from "../../mirror/providers/published-package.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import type { Authentication } from "../access/authentication.ts";
import {
  renderBytes,
  renderDocument,
  rendersOnce,
  sendDocument,
} from "../http/document-response.ts";
import { renderPackage, renderVersions } from "./registry-documents.ts";
import { noteAnswer, type Exchange } from "../http/request-note.ts";

const renderVersionsOnce = rendersOnce(renderVersions);

/**
 * The provider registry protocol (`providers.v1`) over what the mirror holds:
 * clients get the publisher's own checksums, signature and keys and judge for
 * themselves. Archives are those of the network mirror.
 */
export class ProviderRegistryFace {
  readonly #mirror: ProviderMirror;
  readonly #authentication: Authentication;

  constructor(mirror: ProviderMirror, authentication: Authentication) {
    this.#mirror = mirror;
    this.#authentication = authentication;
  }

  /** `/v1/providers/:hostname/:namespace/:type/…`. Throws NoSuchPage for what the protocol does not have. */
  async answer(
    exchange: Exchange,
    { hostname, namespace, type, rest }: RegistryPath,
  ): Promise<void> {
    const provider = providerAddress(hostname, namespace, type);
    const [first = "", second = "", os, arch] = rest;
    if (rest.length === 1 && first === "versions")
      return this.#versions(exchange, provider);
    const version = parseVersion(first);
    const address = { provider, version };
    if (rest.length === 4 && second === "download")
      return this.#package(exchange, address, `${os}_${arch}`);
    if (rest.length === 2) return this.#proof(exchange, address, second);
    throw new NoSuchPage();
  }

  async #versions(
    exchange: Exchange,
    provider: ProviderAddress,
  ): Promise<void> {
    const answer = await this.#mirror.listVersions(provider);
    noteAnswer(exchange, answer);
    // What could not be served must not be listed.
    if (!this.#mirror.isSigned(provider))
      throw new NothingToVerify(formatProviderAddress(provider), "signature");
    const list = await this.#mirror.peekVersions(provider);
    const document = renderVersionsOnce(answer.value, provider, list);
    sendDocument(exchange, document, answer);
  }

  async #package(
    exchange: Exchange,
    address: ReleaseAddress,
    text: string,
  ): Promise<void> {
    const platform = parsePlatform(text);
    const answer = await findPublishedPackage(this.#mirror, address, platform);
    noteAnswer(exchange, answer);
    const { token } = exchange.note;
    const document = renderDocument(
      renderPackage(address, answer.value, (folder, filename) =>
        this.#authentication.locate(folder, filename, token),
      ),
    );
    sendDocument(exchange, document, answer);
  }

  /** SHA256SUMS or its signature, as they were verified. */
  async #proof(
    exchange: Exchange,
    address: ReleaseAddress,
    filename: string,
  ): Promise<void> {
    const name = formatChecksumsName(address.provider, address.version);
    if (filename !== name && filename !== `${name}.sig`) throw new NoSuchPage();
    const answer = await findPublishedProof(this.#mirror, address);
    noteAnswer(exchange, answer);
    const { document, signature } = answer.value;
    const rendered =
      filename === name
        ? renderBytes("text/plain", document)
        : renderBytes("application/octet-stream", signature);
    sendDocument(exchange, rendered, answer);
  }
}

export interface RegistryPath {
  readonly hostname: string;
  readonly namespace: string;
  readonly type: string;
  /** The segments after the type: one to four. */
  readonly rest: readonly string[];
}

/** The names in `/v1/providers/:hostname/:namespace/:type/…`, not yet checked; undefined for other paths. */
export function findRegistryPath(path: string): RegistryPath | undefined {
  const [, v1, providers, hostname, namespace, type, ...rest] = path.split("/");
  if (v1 !== "v1" || providers !== "providers") return undefined;
  if (hostname === undefined || namespace === undefined) return undefined;
  if (type === undefined || rest.length === 0 || rest.length > 4)
    return undefined;
  return { hostname, namespace, type, rest };
}
