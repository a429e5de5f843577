import pLimit from "p-limit";
import {
  formatModuleAddress,
  parseModuleAddress,
} from "../../address/module-address.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { remembered } from "../../concurrency/remembered.ts";
import {
  listModules,
  listModuleVersions,
} from "../../mirror/modules/records.ts";
import type { ReleaseRecords } from "../../mirror/releases/records.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { RequestContext } from "../http/request-context.ts";
import { html, type Html } from "./html.ts";
import { sendPage, table } from "./page.ts";

/** Milliseconds for which names are remembered, since they cost a look into every folder. */
const rememberedFor = 5_000;

/** Pages; each reads its records one after the other, so that clients always find a turn at theirs. */
const madeAtOnce = 2;

/** Rows of a page; a search finds an address that has no room there, and no provider has so many versions. */
const mostShown = 1_000;

/**
 * Answers `/browse`: the addresses of what is held, and the versions of one, each with the page that says what
 * clients get.
 */
export function makeBrowsePage(releases: ReleaseRecords, records: RecordStore) {
  const turn = pLimit(madeAtOnce);
  const listHeld = remembered(rememberedFor, async () => {
    const providers = await releases.listProviders();
    const modules = await listModules(records);
    return [
      ...providers.map((one) => ["provider", formatProviderAddress(one)]),
      ...modules.map((one) => ["module", formatModuleAddress(one)]),
    ] as [string, string][];
  });
  return (ctx: RequestContext): Promise<void> =>
    turn(async () => {
      const query = new URLSearchParams(ctx.querystring);
      const provider = query.get("provider");
      const module = query.get("module");
      if (provider !== null) {
        const address = parseProviderAddress(provider);
        const versions = await releases.list(address);
        sendVersions(ctx, formatProviderAddress(address), versions);
      } else if (module !== null) {
        const address = parseModuleAddress(module, "");
        const versions = await listModuleVersions(records, address);
        sendVersions(ctx, formatModuleAddress(address), versions);
      } else sendFound(ctx, await listHeld(), query.get("q") ?? "");
    });
}

function sendFound(
  ctx: RequestContext,
  held: readonly (readonly [kind: string, name: string])[],
  written: string,
): void {
  const sought = written.trim().toLowerCase();
  const found = held.filter(([, name]) => name.includes(sought));
  const rows = found.map(([kind, name]) => {
    const to = new URLSearchParams({ [kind]: name }).toString();
    return [html`<a href="browse?${to}">${name}</a>`, kind];
  });
  const search = html`<form action="browse" role="search">
    <label
      >Part of an address<br /><input
        name="q"
        value="${written}"
        maxlength="200" /></label
    ><button>Search</button>
  </form>`;
  const result = tableOf("What is held", ["Address", "Kind"], rows);
  const none = html`<p>Nothing that is held has such an address.</p>`;
  sendPage(ctx, "Browse", html`${search}${result ?? none}`);
}

function sendVersions(
  ctx: RequestContext,
  name: string,
  versions: readonly Version[],
): void {
  const rows = newestFirst(versions).map((version) => [
    html`<a href="why/${name}/${version}">${version}</a>`,
  ]);
  const result = tableOf("Versions", ["What clients get"], rows);
  const none = html`<p>
    Nothing of it is held. <a href="why/${name}">Why?</a>
  </p>`;
  const upwards = html`<p><a href="browse">All providers and modules</a></p>`;
  sendPage(ctx, name, html`${upwards}${result ?? none}`);
}

/** Undefined without rows. */
function tableOf(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
): Html | undefined {
  if (rows.length === 0) return undefined;
  const more = rows.length - mostShown;
  return html`${table(title, heads, rows.slice(0, mostShown))}
  ${more > 0 && html`<p>${more} more are not shown.</p>`}`;
}
