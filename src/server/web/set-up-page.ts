import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { failure } from "../../errors/index.ts";
import type { Authentication } from "../access/authentication.ts";
import type { RoutedContext } from "../http/request-context.ts";
import type { PublicAddress } from "../protocols/public-address.ts";
import { formatClientInstructions } from "./client-instructions.ts";
import { html, type Html } from "./html.ts";
import { sendPage } from "./page.ts";

interface SetUpParts {
  readonly publicAddress: PublicAddress;
  readonly authentication: Pick<Authentication, "isOn">;
  /** The provider hostnames that are served. */
  readonly hostnames: readonly string[];
  /** The policy refuses nothing. */
  readonly isReporting: () => boolean;
}

/**
 * Answers `/` and `/ca.pem`: client set-up, for everyone.
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
    const { authentication, publicAddress, hostnames } = this.#parts;
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
        ${fingerprint && renderAuthority(fingerprint)}${needsToken && tokenHint}${formatSetUps({ url, client, fingerprint }).map(renderSetUp)} `,
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

function renderSetUp({ name, hint, text }: SetUp): Html {
  return html`<h2>${name}</h2>
    <p>${hint}</p>
    <pre tabindex="0" aria-label="${name}">${text}</pre> `;
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
  const ca = mirror.fingerprint !== undefined;
  const setUps: readonly [string, string, readonly string[]][] = [
    [
      "Terraform",
      "In ~/.terraformrc, or in terraform.rc in %APPDATA% on Windows:",
      [block.trimEnd()],
    ],
    [
      "OpenTofu",
      "In ~/.tofurc. From 1.12 on, trust_all_hashes makes it lock all hashes of providers of registry.opentofu.org:",
      [
        block
          .replace(/^ {4}url .*$/m, "$&\n    trust_all_hashes = true")
          .trimEnd(),
      ],
    ],
    [
      "terragrunt",
      "It runs Terraform or OpenTofu, which read the same block; here from a file of your repository:",
      [
        ...settings(mirror, "export ", "=", "$PWD"),
        "terragrunt run --all init",
      ],
    ],
    [
      "GitHub Actions",
      "In a workflow, before init:",
      [
        "env:",
        ...settings(mirror, "  ", ": ", "${{ github.workspace }}"),
        ...["steps:", "  - run: |", ...writeFiles(mirror, block)],
      ],
    ],
    [
      "GitLab",
      "In .gitlab-ci.yml:",
      [
        "variables:",
        ...settings(mirror, "  ", ": ", "$CI_PROJECT_DIR"),
        ...["default:", "  before_script:", "    - |"],
        ...writeFiles(mirror, block),
      ],
    ],
    [
      "Docker",
      "In a Dockerfile, with the files beside it:",
      [
        "COPY mirror.tfrc /etc/",
        ...(ca ? ["COPY provender-ca.pem /etc/"] : []),
        ...settings(mirror, "ENV ", "=", "/etc"),
      ],
    ],
  ];
  return setUps.map(([name, hint, lines]) => ({
    ...{ name, hint },
    text: `${lines.join("\n")}\n`,
  }));
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
