import { formatChecksumsName } from "../../address/archive-name.ts";
import { parsePlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure } from "../../errors/index.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import {
  describePublished,
  publishedProof,
} from "../../mirror/providers/published-package.ts";
import type { PlatformArchives } from "../../mirror/providers/platform-archives.ts";
import {
  renderBytes,
  renderDocument,
  rendersOnce,
  sendDocument,
} from "../http/document-response.ts";
import { readProvider, readRelease } from "./asked-address.ts";
import type { ProtocolParts } from "./parts.ts";
import {
  renderPackage,
  renderVersion,
  renderVersions,
} from "./registry-documents.ts";
import {
  noteAnswer,
  noteLeftOut,
  type RoutedContext,
} from "../http/request-context.ts";

const renderVersionsOnce = rendersOnce(renderVersions);

/**
 * The provider registry protocol (`providers.v1`) over what the mirror holds:
 * clients get the publisher's own checksums, signature and keys and judge for
 * themselves. Archives are those of the network mirror.
 */
export class ProviderRegistryProtocol {
  readonly #mirror: ProviderMirror;
  readonly #platforms: PlatformArchives;
  readonly #parts: Pick<ProtocolParts, "authentication" | "publicAddress">;

  constructor(
    mirror: ProviderMirror,
    platforms: PlatformArchives,
    parts: Pick<ProtocolParts, "authentication" | "publicAddress">,
  ) {
    this.#mirror = mirror;
    this.#platforms = platforms;
    this.#parts = parts;
  }

  async versions(ctx: RoutedContext): Promise<void> {
    const provider = readProvider(ctx);
    const answer = await this.#mirror.listVersions(provider);
    noteAnswer(ctx.state, answer);
    const { request, versions, list, leftOut } = answer.value;
    noteLeftOut(ctx.state, answer.value);
    // A release that could not be served must not be listed.
    if (request.origin.registry.source !== "registry")
      throw failure(
        "nothing-to-verify",
        formatProviderAddress(provider),
        "signature",
      );
    const document = renderVersionsOnce(versions, provider, list, leftOut);
    sendDocument(ctx, document, answer);
  }

  /** One version, for programs that look for its changelog; says what is known alone. */
  async version(ctx: RoutedContext): Promise<void> {
    const address = readRelease(ctx);
    const answer = await this.#mirror.findRelease(address);
    noteAnswer(ctx.state, answer);
    const { list } = answer.value;
    const document = renderDocument(renderVersion(address, list));
    sendDocument(ctx, document, answer);
  }

  async package(ctx: RoutedContext): Promise<void> {
    const address = readRelease(ctx);
    const platform = parsePlatform(`${ctx.params.os}_${ctx.params.arch}`);
    const answer = await this.#mirror.findRelease(address);
    const found = await describePublished(this.#mirror, answer.value, platform);
    this.#platforms.want(answer.value);
    noteAnswer(ctx.state, answer);
    const { authentication, publicAddress } = this.#parts;
    const { asker, path } = ctx.state;
    const root = publicAddress.rootFor(ctx.req, path);
    const locate = (folder: string, filename: string) =>
      `${root}${folder.slice(1)}${authentication.locate(folder, filename, asker.token)}`;
    const document = renderDocument(renderPackage(address, found, locate));
    sendDocument(ctx, document, answer);
  }

  /** SHA256SUMS or its signature, as they were verified. Throws no-such-page for other files. */
  async proof(ctx: RoutedContext): Promise<void> {
    const address = readRelease(ctx);
    const filename = ctx.params.proof;
    const name = formatChecksumsName(address.provider, address.version);
    if (filename !== name && filename !== `${name}.sig`)
      throw failure("no-such-page");
    const answer = await this.#mirror.findRelease(address);
    const { document, signature } = publishedProof(answer.value);
    noteAnswer(ctx.state, answer);
    const rendered =
      filename === name
        ? renderBytes("text/plain", document)
        : renderBytes("application/octet-stream", signature);
    sendDocument(ctx, rendered, answer);
  }
}
