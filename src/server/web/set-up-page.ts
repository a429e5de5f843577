import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { Authentication } from "../access/authentication.ts";
import type { RoutedContext } from "../http/request-context.ts";
import type { PublicAddress } from "../protocols/public-address.ts";
import { formatClientInstructions } from "./client-instructions.ts";
import { html, type Html } from "./html.ts";
import { sendPage, table } from "./page.ts";

interface KeptProvider {
  readonly provider: ProviderAddress;
  readonly versions: readonly Version[];
}

interface SetUpParts {
  readonly publicAddress: PublicAddress;
  readonly authentication: Pick<Authentication, "isOn">;
  /** The provider hostnames that are served. */
  readonly hostnames: readonly string[];
  readonly listKept: () => Promise<readonly KeptProvider[]>;
  /** The policy refuses nothing. */
  readonly isReporting: () => boolean;
}

/** Versions of a provider that the overview names. */
const mostVersions = 20;

/**
 * Answers `/` and `/ca.pem`: client set-up for everyone, and stored content for
 * authenticated clients.
 */
export class SetUpPage {
  readonly #parts: SetUpParts;
  #url = "";
  #caFile: string | undefined;

  constructor(parts: SetUpParts) {
    this.#parts = parts;
  }

  /**
   * Sets the URL where it listens, and the file of a CA that clients do not
   * know yet.
   */
  announce(url: string, caFile: string | undefined): void {
    this.#url = url;
    this.#caFile = caFile;
  }

  async answer(ctx: RoutedContext): Promise<void> {
    const { authentication, listKept, publicAddress, hostnames } = this.#parts;
    const needsToken = authentication.isOn;
    const note = this.#parts.isReporting() && reportingNote;
    const url = publicAddress.baseOf(ctx.req) ?? this.#url;
    const authority = await this.#readAuthority();
    const instructions = { url, caFile: undefined, hostnames, needsToken };
    const fingerprint =
      authority && new X509Certificate(authority).fingerprint256;
    const client = formatClientInstructions(instructions);
    sendPage(
      ctx,
      "Set up",
      html`<p>
          This machine mirrors Terraform and OpenTofu providers and modules. It
          checks the publishers' signatures and keeps what it checked.
        </p>
        ${note}
        ${fingerprint && renderAuthority(fingerprint)}${needsToken && tokenHint}${formatSetUps({ url, client, fingerprint }).map(renderSetUp)}
        ${needsToken ? undefined : renderKept(await listKept())}`,
    );
  }

  async authority(ctx: RoutedContext): Promise<void> {
    const pem = await this.#readAuthority();
    if (pem === undefined) throw failure("no-such-page");
    ctx.status = 200;
    ctx.set("Cache-Control", "no-store");
    ctx.type = "application/x-pem-file";
    ctx.body = pem;
  }

  #readAuthority(): Promise<string> | undefined {
    return this.#caFile === undefined
      ? undefined
      : readFile(this.#caFile, "utf8");
  }
}

const reportingNote = html`<p class="bad">
  Its policy only reports: what the rules would refuse is served.
</p>`;

function renderAuthority(fingerprint: string): Html {
  return html`<h2>Certificate authority</h2>
    <p>
      Clients have to trust <a href="ca.pem">ca.pem</a>. Get its fingerprint
      from the operator, who sees it with <code>provender ca</code>, and compare
      it with that of your copy:
    </p>
    <p><code>${fingerprint}</code></p>
    <p>
      Set <code>SSL_CERT_FILE</code> to the path of the copy; on macOS and
      Windows add it to the system's trusted roots.
    </p> `;
}

const tokenHint = html`<h2>Token</h2>
  <p>
    This mirror needs a token. Its operator makes one with
    <code>provender token new NAME</code>; where it has an OpenID provider,
    <code>terraform login</code> and <code>tofu login</code> get one. Put it in
    the place of <code>YOUR_TOKEN</code>.
  </p> `;

function renderSetUp({
  name,
  hint,
  text,
}: ReturnType<typeof formatSetUps>[number]): Html {
  return html`<h2>${name}</h2>
    <p>${hint}</p>
    <pre tabindex="0" aria-label="${name}">${text}</pre> `;
}

function renderKept(kept: readonly KeptProvider[]): Html {
  const rows = kept.map(({ provider, versions }) => {
    const more = versions.length - mostVersions;
    const named = versions.slice(0, mostVersions).join(", ");
    const rest = more > 0 ? ` and ${more} more` : "";
    return [formatProviderAddress(provider), `${named}${rest}`];
  });
  return html`<h2>Kept releases</h2>
    ${kept.length === 0 ? html`<p>None yet.</p>` : table("Kept releases", ["Provider", "Versions"], rows)}
    <p><a href="browse">Browse all of them</a></p>`;
}

/** Text and its place, for one kind of client. */
interface SetUp {
  readonly name: string;
  readonly hint: string;
  readonly text: string;
}

interface Mirror {
  readonly url: string;
  /** The block for the client's configuration. */
  readonly client: string;
  /** Fingerprint of a CA that clients do not know yet. */
  readonly fingerprint: string | undefined;
}

/** One for each way in which clients run. */
function formatSetUps(mirror: Mirror): readonly SetUp[] {
  const block = mirror.client.replace(/^# For .*\n/, "");
  return [...ofMachines(mirror, block), ...ofRunners(mirror, block)];
}

function ofMachines(mirror: Mirror, block: string): readonly SetUp[] {
  return [
    {
      name: "Terraform",
      hint: "In ~/.terraformrc, or in terraform.rc in %APPDATA% on Windows:",
      text: block,
    },
    {
      name: "OpenTofu",
      hint: "In ~/.tofurc. From 1.12 on, trust_all_hashes makes it lock all hashes of providers of registry.opentofu.org:",
      text: block.replace(/^ {4}url .*$/m, "$&\n    trust_all_hashes = true"),
    },
    {
      name: "terragrunt",
      hint: "It runs Terraform or OpenTofu, which read the same block; here from a file of your repository:",
      text: lines([
        ...settings(mirror, "export ", "=", "$PWD"),
        "terragrunt run --all init",
      ]),
    },
  ];
}

function ofRunners(mirror: Mirror, block: string): readonly SetUp[] {
  return [
    {
      name: "GitHub Actions",
      hint: "In a workflow, before init:",
      text: lines([
        "env:",
        ...settings(mirror, "  ", ": ", "${{ github.workspace }}"),
        "steps:",
        "  - run: |",
        ...writeFiles(mirror, block),
      ]),
    },
    {
      name: "GitLab",
      hint: "In .gitlab-ci.yml:",
      text: lines([
        "variables:",
        ...settings(mirror, "  ", ": ", "$CI_PROJECT_DIR"),
        "default:",
        "  before_script:",
        "    - |",
        ...writeFiles(mirror, block),
      ]),
    },
    {
      name: "Docker",
      hint: "In a Dockerfile, with the files beside it:",
      text: lines([
        "COPY mirror.tfrc /etc/",
        ...(mirror.fingerprint === undefined
          ? []
          : ["COPY provender-ca.pem /etc/"]),
        ...settings(mirror, "ENV ", "=", "/etc"),
      ]),
    },
  ];
}

function settings(
  { fingerprint }: Mirror,
  begin: string,
  is: string,
  folder: string,
): readonly string[] {
  const trust = `${begin}SSL_CERT_FILE${is}${folder}/provender-ca.pem`;
  return [
    `${begin}TF_CLI_CONFIG_FILE${is}${folder}/mirror.tfrc`,
    ...(fingerprint === undefined ? [] : [trust]),
  ];
}

/** The CA is fetched without trust, and then compared with its fingerprint. */
function writeFiles(
  { url, fingerprint }: Mirror,
  block: string,
): readonly string[] {
  const fetched = [
    `curl -fsSk ${url}ca.pem -o provender-ca.pem`,
    `openssl x509 -in provender-ca.pem -noout -sha256 -fingerprint | grep -qF '${fingerprint}'`,
  ];
  const written = ["cat > mirror.tfrc <<'END'", block.trimEnd(), "END"];
  const all = [...(fingerprint === undefined ? [] : fetched), ...written];
  return all.flatMap((text) => text.split("\n").map((line) => `      ${line}`));
}

function lines(texts: readonly string[]): string {
  return `${texts.join("\n")}\n`;
}
