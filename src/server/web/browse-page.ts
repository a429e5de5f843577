import pLimit from "p-limit";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { parseModuleAddress } from "../../address/specs/module-spec.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import { remembered } from "../../concurrency/remembered.ts";
import type { ModuleOverview } from "../../mirror/modules/overview.ts";
import { explainPending } from "../../mirror/trust/pending-decisions.ts";
import type { ProviderOverview } from "../../mirror/providers/overview.ts";
import type { RequestContext } from "../http/request-context.ts";
import { dateOf, formatBytes } from "./figures.ts";
import { html, type Html } from "./html.ts";
import { sendPage, table } from "./page.ts";
import { renderPending } from "./pending-table.ts";
import { pageOf } from "./paging.ts";

interface BrowseParts {
  readonly providers: ProviderOverview;
  readonly modules: ModuleOverview;
}

interface HeldName {
  readonly kind: "provider" | "module";
  readonly name: string;
}

/**
 * Milliseconds for which the names of stored content are remembered, because
 * they cost a look into every folder.
 */
const rememberedFor = 5_000;

/** Pages; each reads its records one after the other, so that clients always find a turn at theirs. */
const madeAtOnce = 2;

/**
 * Answers `/browse`: stored content, from providers and modules down to
 * platforms. Throws malformed-address.
 */
export class BrowsePage {
  readonly #parts: BrowseParts;
  readonly #listHeld: () => Promise<readonly HeldName[]>;
  readonly #turn = pLimit(madeAtOnce);

  constructor(parts: BrowseParts) {
    this.#parts = parts;
    this.#listHeld = remembered(rememberedFor, () => listHeld(parts));
  }

  /** True when the policy reports its refusals and serves them. */
  get #reportsOnly(): boolean {
    return this.#parts.providers.reportsOnly;
  }

  answer(ctx: RequestContext): Promise<void> {
    return this.#turn(() => this.#answer(ctx));
  }

  async #answer(ctx: RequestContext): Promise<void> {
    const query = new URLSearchParams(ctx.querystring);
    const provider = query.get("provider");
    const module = query.get("module");
    const version = query.get("version");
    if (module !== null)
      await this.#module(ctx, parseModuleAddress(module, ""), query);
    else if (provider === null) await this.#all(ctx, query);
    else if (version === null)
      await this.#provider(ctx, parseProviderAddress(provider), query);
    else {
      const address = parseProviderAddress(provider);
      await this.#release(ctx, address, parseVersion(version));
    }
  }

  async #all(ctx: RequestContext, query: URLSearchParams): Promise<void> {
    const sought = (query.get("q") ?? "").trim().toLowerCase();
    const held = await this.#listHeld();
    const all = held.filter(({ name }) => name.includes(sought));
    const { rows, links } = pageOf(all, query);
    const found = rows.map(({ kind, name }) => [
      html`<a href="${link({ [kind]: name })}">${name}</a>`,
      kind,
    ]);
    const result =
      rows.length === 0
        ? html`<p>Nothing that is held has such an address.</p>`
        : table("What is held", ["Address", "Kind"], found);
    const search = html`<form action="browse" role="search">
      <label
        >Part of an address<br /><input
          name="q"
          value="${query.get("q") ?? ""}"
          maxlength="200" /></label
      ><button>Search</button>
    </form>`;
    sendPage(ctx, "Browse", html`${search}${result}${links}`);
  }

  async #provider(
    ctx: RequestContext,
    provider: ProviderAddress,
    query: URLSearchParams,
  ): Promise<void> {
    const { providers } = this.#parts;
    const name = formatProviderAddress(provider);
    const { rows, links } = pageOf(
      await providers.listVersions(provider),
      query,
    );
    const described = await providers.describe(provider, rows);
    const found = described.map((row) => [
      html`<a href="${link({ provider: name, version: row.version })}"
        >${row.version}</a
      >`,
      renderStanding(row, this.#reportsOnly),
      dateOf(row.firstSeen),
      row.signedBy === undefined
        ? ""
        : html`<code>${row.signedBy.slice(-16)}</code>`,
    ]);
    const heads = ["Version", "Standing", "First seen", "Signed by"];
    const result =
      rows.length === 0
        ? html`<p>Nothing is known of it. <a href="why/${name}">Why?</a></p>`
        : table("Versions", heads, found);
    sendPage(ctx, name, html`${upwards}${result}${links}`);
  }

  async #release(
    ctx: RequestContext,
    provider: ProviderAddress,
    version: Version,
  ): Promise<void> {
    const { providers } = this.#parts;
    const name = formatProviderAddress(provider);
    const [row] = await providers.describe(provider, [version]);
    const release = await providers.describeRelease({ provider, version });
    const packages = release.packages.map((one) => [
      one.platform,
      one.size === undefined
        ? "only listed"
        : `stored, ${formatBytes(one.size)}`,
      html`<code>zh:${one.sha256}</code
        >${one.h1 && html`<br /><code>${one.h1}</code>`}`,
      dateOf(one.lastUsed),
    ]);
    const heads = ["Platform", "Archive", "Hashes", "Last used"];
    sendPage(
      ctx,
      `${name} ${version}`,
      html`<p><a href="${link({ provider: name })}">All versions</a></p>
        <dl>
          <dt>Standing</dt>
          <dd>
            ${row && renderStanding(row, this.#reportsOnly)}
            <a href="why/${name}/${version}">What do clients get?</a>
          </dd>
          <dt>First seen</dt>
          <dd>${dateOf(row?.firstSeen) || "not yet"}</dd>
          <dt>Signed by</dt>
          <dd>${renderSigner(release.signer)}</dd>
        </dl>
        ${row !== undefined && renderPending(row.pending)}
        ${packages.length > 0 && table("Packages", heads, packages)}`,
    );
  }

  async #module(
    ctx: RequestContext,
    module: ModuleAddress,
    query: URLSearchParams,
  ): Promise<void> {
    const { modules } = this.#parts;
    const name = formatModuleAddress(module);
    const { rows, links } = pageOf(await modules.listVersions(module), query);
    const described = await modules.describe(module, rows);
    const found = described.map(({ version, source, commit, sha256, size }) => [
      html`<a href="why/${name}/${version}">${version}</a>`,
      html`${source}${commit && html`<br />commit <code>${commit}</code>`}`,
      sha256 === undefined ? "passed through" : html`<code>${sha256}</code>`,
      size === undefined ? "" : formatBytes(size),
    ]);
    const heads = ["Version", "Source", "SHA-256", "Stored"];
    sendPage(
      ctx,
      name,
      html`${upwards}${table("Versions", heads, found)}${links}`,
    );
  }
}

async function listHeld({
  providers,
  modules,
}: BrowseParts): Promise<readonly HeldName[]> {
  return [
    ...(await providers.listProviders()).map((provider) => ({
      kind: "provider" as const,
      name: formatProviderAddress(provider),
    })),
    ...(await modules.listModules()).map((module) => ({
      kind: "module" as const,
      name: formatModuleAddress(module),
    })),
  ];
}

const upwards = html`<p><a href="browse">All providers and modules</a></p>`;

function link(query: Readonly<Record<string, string>>): string {
  return `browse?${new URLSearchParams(query).toString()}`;
}

type Row = Awaited<ReturnType<ProviderOverview["describe"]>>[number];

function renderStanding(
  { deniedBy, heldUntil, phantomSince, pending, isListed, firstSeen }: Row,
  reportsOnly: boolean,
): Html {
  const would = reportsOnly ? "would be " : "";
  const held = `${would}held until ${dateOf(heldUntil)}`;
  const bad = [
    ...(deniedBy === undefined ? [] : [`${would}denied by ${deniedBy}`]),
    ...(heldUntil === undefined ? [] : [held]),
    ...(phantomSince === undefined
      ? []
      : [`without files at its registry since ${dateOf(phantomSince)}`]),
    ...pending.map((one) => `candidate: ${explainPending(one)}`),
  ];
  if (bad.length > 0) return html`<span class="bad">${bad.join("; ")}</span>`;
  if (firstSeen === undefined) return html`only listed`;
  return html`verified, ${isListed ? "listed" : "no longer listed"}`;
}

type Signer = Awaited<
  ReturnType<ProviderOverview["describeRelease"]>
>["signer"];

function renderSigner(signer: Signer): Html {
  if (signer === undefined) return html`unsigned, or not known`;
  const { fingerprint, name, known } = signer;
  return html`<code>${fingerprint}</code
    >${name !== undefined && html`<br />calls itself ${name}`}${known && html`<br />${known}`}`;
}
