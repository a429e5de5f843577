import type { Context } from "koa";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { escapeHtml, sendPage } from "./page.ts";

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
    sendPage(ctx, "provender", renderFront(this.#instructions, kept));
  }
}

function renderFront(
  instructions: string,
  kept: readonly KeptProvider[],
): string {
  return `<p>This machine mirrors Terraform and OpenTofu providers. It checks the publishers' signatures and keeps what it checked.</p>
<h2>Set up a client</h2>
<pre>${escapeHtml(instructions)}</pre>
<h2>Kept releases</h2>
${kept.length === 0 ? "<p>None yet.</p>" : `<table><tr><th>Provider<th>Versions${kept.map(renderProvider).join("")}</table>`}`;
}

function renderProvider({ provider, versions }: KeptProvider): string {
  const name = escapeHtml(formatProviderAddress(provider));
  return `\n<tr><td>${name}<td>${escapeHtml(versions.join(", "))}`;
}
