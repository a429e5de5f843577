import { isIPv6 } from "node:net";
import { domainToUnicode } from "node:url";
import { isEveryAddress } from "../tls/certificate-source.ts";

/** The URL under which clients find a daemon; a daemon on every address is called by its machine's name. */
export function formatMirrorUrl(
  listen: { host: string; port: number; secure: boolean },
  hostname: string,
): string {
  const host = isEveryAddress(listen.host) ? hostname : listen.host;
  const scheme = listen.secure ? "https" : "http";
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${listen.port}/`;
}

export interface MirrorForClients {
  readonly url: string;
  readonly hostnames: readonly string[];
  readonly needsToken: boolean;
  /** SHA-256 of the CA that clients do not know yet. */
  readonly fingerprint?: string | undefined;
}

interface SetUp {
  /** The option of `client-config` that asks for it. */
  readonly option: string;
  readonly name: string;
  readonly hint: string;
  readonly text: string;
}

/** What the operators of clients paste, the usual way first; shown by the start, by `client-config` and at `/`. */
export function listSetUps(mirror: MirrorForClients): readonly SetUp[] {
  const blocks = formatHostBlocks(mirror);
  const network = formatNetworkMirror(mirror);
  const lockAll = network.replace(
    /^ {4}url .*$/m,
    "$&\n    trust_all_hashes = true",
  );
  const setUp = (
    option: string,
    name: string,
    hint: string,
    ...lines: readonly string[]
  ) => ({ option, name, hint, text: `${lines.join("\n").trimEnd()}\n` });
  return [
    setUp(
      "hosts",
      "Terraform and OpenTofu",
      "In ~/.terraformrc, in terraform.rc in %APPDATA% on Windows, or in ~/.tofurc:",
      blocks,
    ),
    setUp(
      "network",
      "Network mirror",
      "In place of the blocks above, for providers without a signature. Clients check no signature then, lock hashes of one platform, and do not print why something is refused:",
      network,
    ),
    setUp(
      "tofu",
      "Network mirror for OpenTofu",
      "In ~/.tofurc. From 1.12 on, trust_all_hashes makes it lock all hashes of providers of registry.opentofu.org:",
      lockAll,
    ),
    setUp(
      "terragrunt",
      "terragrunt",
      "It runs Terraform or OpenTofu, which read the same blocks; here from a file of your repository:",
      ...settings(mirror, "export ", "=", "$PWD"),
      "terragrunt run --all init",
    ),
    setUp(
      "github",
      "GitHub Actions",
      "In a workflow, before init:",
      "env:",
      ...settings(mirror, "  ", ": ", "${{ github.workspace }}"),
      ...["steps:", "  - run: |", ...writeFiles(mirror, blocks)],
    ),
    setUp(
      "gitlab",
      "GitLab",
      "In .gitlab-ci.yml:",
      "variables:",
      ...settings(mirror, "  ", ": ", "$CI_PROJECT_DIR"),
      ...["default:", "  before_script:", "    - |"],
      ...writeFiles(mirror, blocks),
    ),
    setUp(
      "docker",
      "Docker",
      "In a Dockerfile, with the files beside it:",
      "COPY mirror.tfrc /etc/",
      ...(mirror.fingerprint ? ["COPY provender-ca.pem /etc/"] : []),
      ...settings(mirror, "ENV ", "=", "/etc"),
    ),
  ];
}

/** What the mirror prints at its start; `caFile` is the CA that clients do not know yet. */
export function formatStart(
  mirror: MirrorForClients,
  caFile: string | undefined,
): string {
  return [
    "# For ~/.terraformrc (Terraform) or ~/.tofurc (OpenTofu):",
    ...(caFile === undefined
      ? []
      : [
          `# Give clients a copy of ${caFile} and set SSL_CERT_FILE to its path`,
          "# (on macOS and Windows add it to the system's trusted roots instead).",
        ]),
    formatHostBlocks(mirror).trimEnd(),
    '# "provender client-config" prints this again, and what CI and the network mirror need.',
    "",
  ].join("\n");
}

/** How machines come to trust the CA, once it is in provender-ca.pem. */
export const trustSteps = `One command      SSL_CERT_FILE=$PWD/provender-ca.pem terraform init
Debian, Ubuntu   sudo cp provender-ca.pem /usr/local/share/ca-certificates/provender-ca.crt && sudo update-ca-certificates
Red Hat, Fedora  sudo cp provender-ca.pem /etc/pki/ca-trust/source/anchors/ && sudo update-ca-trust
macOS            sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain provender-ca.pem
Windows          certutil -addstore -f Root provender-ca.pem (as administrator)
Containers       COPY provender-ca.pem /usr/local/share/ca-certificates/provender-ca.crt
                 RUN update-ca-certificates
                 or mount the file and set SSL_CERT_FILE to its path
`;

/** The URL for clients, with a note where it is not the mirror's own: they take no http URL, so that a proxy adds TLS. */
function findClientUrl({ url }: MirrorForClients) {
  if (url.startsWith("https:")) return { url, notes: [] };
  const note =
    "# mirror.example.com stands for the proxy that adds TLS to this mirror.";
  return { url: "https://mirror.example.com/", notes: [note] };
}

function formatHostBlocks(mirror: MirrorForClients): string {
  const { url, notes } = findClientUrl(mirror);
  const names = mirror.hostnames.map(clientHostname);
  const asked = [...new Set([new URL(url).host, ...names])];
  return [
    ...notes,
    ...mirror.hostnames.flatMap((hostname) => [
      `host "${clientHostname(hostname)}" {`,
      "  services = {",
      `    "providers.v1" = "${url}v1/providers/${hostname}/"`,
      `    "modules.v1"   = "${url}v1/modules/${hostname}/"`,
      "  }",
      "}",
    ]),
    ...(mirror.needsToken ? asked.flatMap(credentials) : []),
    "",
  ].join("\n");
}

/**
 * The served hostnames come from the mirror only: `direct` excludes them, so that a 404 of the mirror ends the search
 * instead of leading past it. Others stay with their own registries. Clients join HOSTNAME:PORT to a mirror's URL in a
 * way that they cannot parse themselves. (CLI configuration file, "Explicit Installation Method Configuration")
 */
function formatNetworkMirror(mirror: MirrorForClients): string {
  const { url, notes } = findClientUrl(mirror);
  const patterns = mirror.hostnames
    .filter((hostname) => !hostname.includes(":"))
    .map((hostname) => `"${clientHostname(hostname)}/*/*"`)
    .join(", ");
  // An empty list would mean all.
  if (patterns === "") return "";
  return [
    ...notes,
    "provider_installation {",
    "  network_mirror {",
    `    url     = "${url}providers/"`,
    `    include = [${patterns}]`,
    "  }",
    "  direct {",
    `    exclude = [${patterns}]`,
    "  }",
    "}",
    ...(mirror.needsToken ? credentials(new URL(url).host) : []),
    "",
  ].join("\n");
}

/** Clients send a token by the hostname that they know: the mirror's, or that of a host block. */
function credentials(host: string): string[] {
  return [`credentials "${host}" {`, '  token = "YOUR_TOKEN"', "}"];
}

/** Clients refuse punycode in their configuration; they want the Unicode form. */
function clientHostname(hostname: string): string {
  const [name = "", ...port] = hostname.split(":");
  return [domainToUnicode(name), ...port].join(":");
}

function settings(
  { fingerprint }: MirrorForClients,
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
  { url, fingerprint }: MirrorForClients,
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
