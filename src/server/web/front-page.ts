import type { Context } from "koa";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";

interface KeptProvider {
  readonly provider: ProviderAddress;
  readonly versions: readonly Version[];
}

/** `/`: how to set up a client and what is kept, for people. */
export class FrontPage {
  readonly #listKept: () => Promise<readonly KeptProvider[]>;
  #instructions = "";

  constructor(listKept: () => Promise<readonly KeptProvider[]>) {
    this.#listKept = listKept;
  }

  /** The block for clients, once the address is known. */
  announce(instructions: string): void {
    this.#instructions = instructions;
  }

  async answer(ctx: Context): Promise<void> {
    const kept = await this.#listKept();
    ctx.status = 200;
    ctx.set(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'",
    );
    ctx.set("Cache-Control", "no-store");
    ctx.type = "text/html; charset=utf-8";
    ctx.body = renderPage(this.#instructions, kept);
  }
}

function renderPage(
  instructions: string,
  kept: readonly KeptProvider[],
): string {
  return `<!doctype html>
<html lang="en">
<title>provender</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
pre{background:#f4f4f4;color:#111;padding:1rem;overflow-x:auto}td,th{text-align:left;padding:.1rem 1rem .1rem 0;vertical-align:top}</style>
<h1>provender</h1>
<p>This machine mirrors Terraform and OpenTofu providers. It checks the publishers' signatures and keeps what it checked.</p>
<h2>Set up a client</h2>
<pre>${escapeHtml(instructions)}</pre>
<h2>Kept releases</h2>
${kept.length === 0 ? "<p>None yet.</p>" : `<table><tr><th>Provider<th>Versions${kept.map(renderProvider).join("")}</table>`}
</html>
`;
}

function renderProvider({ provider, versions }: KeptProvider): string {
  const name = escapeHtml(formatProviderAddress(provider));
  return `\n<tr><td>${name}<td>${escapeHtml(versions.join(", "))}`;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");
}
