import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { failure } from "../../errors/index.ts";
import type { Authentication } from "../access/authentication.ts";
import type { RoutedContext } from "../http/request-context.ts";
import type { PublicAddress } from "../protocols/public-address.ts";
import { formatStart, listSetUps } from "./client-instructions.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";

export type SetUpPage = ReturnType<typeof makeSetUpPage>;

/** Answers `/` and `/ca.pem`: client set-up, for everyone. */
export function makeSetUpPage(
  hostnames: readonly string[],
  publicAddress: PublicAddress,
  authentication: Authentication,
  /** The policy refuses nothing. */
  isReporting: () => boolean,
) {
  let own = { url: "", caFile: undefined as string | undefined };
  const readAuthority = () =>
    own.caFile === undefined ? undefined : readFile(own.caFile, "utf8");

  return {
    /** Where it listens, and the file of a CA that clients do not know yet. Returns what the operators of clients need. */
    announce(url: string, caFile: string | undefined): string {
      own = { url, caFile };
      const known = publicAddress.configured ?? url;
      const needsToken = authentication.isOn;
      return formatStart({ url: known, hostnames, needsToken }, caFile);
    },

    async answer(ctx: RoutedContext): Promise<void> {
      const needsToken = authentication.isOn;
      const url = publicAddress.baseOf(ctx.req) ?? own.url;
      const authority = await readAuthority();
      const fingerprint =
        authority && new X509Certificate(authority).fingerprint256;
      const setUps = listSetUps({ url, hostnames, needsToken, fingerprint });
      const shown = setUps.filter(({ text }) => text.trim());
      sendPage(
        ctx,
        "Set up",
        html`<p>
            This machine mirrors Terraform and OpenTofu providers and modules.
            It checks the publishers' signatures and keeps what it checked.
          </p>
          ${
            isReporting() &&
            html`<p class="bad">
              Its policy only reports: what the rules would refuse is served.
            </p>`
          }
          ${
            fingerprint &&
            html`<h2>Certificate authority</h2>
              <p>
                Clients have to trust <a href="ca.pem">ca.pem</a>. Get its
                fingerprint from the operator, who sees it with
                <code>provender client-config</code>, and compare it with that
                of your copy:
              </p>
              <p><code>${fingerprint}</code></p>
              <p>
                Set <code>SSL_CERT_FILE</code> to the path of the copy; on macOS
                and Windows add it to the system's trusted roots.
              </p> `
          }${needsToken && tokenHint}${shown.map(
            ({ name, hint, text }) =>
              html`<h2>${name}</h2>
                <p>${hint}</p>
                <pre tabindex="0" aria-label="${name}">${text}</pre> `,
          )} `,
      );
    },
    async authority(ctx: RoutedContext): Promise<void> {
      const pem = await readAuthority();
      if (pem === undefined) throw failure("no-such-page");
      ctx.status = 200;
      ctx.set("Cache-Control", "no-store");
      ctx.type = "application/x-pem-file";
      ctx.body = pem;
    },
  };
}

const tokenHint = html`<h2>Token</h2>
  <p>
    This mirror needs a token. Its operator makes one with
    <code>provender token NAME</code>; where it has an OpenID provider,
    <code>terraform login</code> and <code>tofu login</code> get one. Put it in
    the place of <code>YOUR_TOKEN</code>.
  </p> `;
