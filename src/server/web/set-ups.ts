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
export function formatSetUps(mirror: Mirror): readonly SetUp[] {
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
