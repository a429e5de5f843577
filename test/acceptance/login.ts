import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endingWithTests } from "../child-process.ts";
import { logIn } from "./browser.ts";
import { runClient, type Client, type ClientRun } from "./clients.ts";

/** User of a client with a home of its own, where `login` leaves a token. */
interface AtHome {
  readonly home: string;
  readonly init: () => Promise<ClientRun>;
  /** `login HOST` with "yes" on standard input, and the scripted browser, which trusts `ca`, at the URL that it prints. */
  readonly login: (
    mirrorUrl: string,
    ca: string,
  ) => Promise<{ readonly status: number | null; readonly output: string }>;
}

/** The home is in `directory`, whose configuration `init` takes. */
export async function moveIn(
  client: Client,
  directory: string,
  {
    cliConfig,
    caFile,
  }: { readonly cliConfig: string; readonly caFile: string },
): Promise<AtHome> {
  const home = join(directory, ".home");
  await mkdir(join(home, ".terraform.d"), { recursive: true });
  for (const name of [".terraformrc", ".tofurc"])
    await writeFile(join(home, name), cliConfig);
  return {
    home,
    init: () =>
      runClient(client, ["init", "-no-color"], {
        directory,
        cliConfig: "",
        caFile,
        env: { TF_CLI_CONFIG_FILE: "" },
      }),
    login: async (mirrorUrl, ca) => {
      const { host } = new URL(mirrorUrl);
      const child = spawn(
        ...endingWithTests(client.binary, ["login", "-no-color", host]),
        {
          cwd: home,
          env: {
            PATH: "/nowhere",
            HOME: home,
            CHECKPOINT_DISABLE: "1",
            SSL_CERT_FILE: caFile,
            SSL_CERT_DIR: home,
          },
        },
      );
      const exit = once(child, "exit");
      let output = "";
      let browsing: Promise<unknown> | undefined;
      const read = (text: string) => {
        output += text;
        const [, url] = /^\s*(https:\S+\/auth\?\S+)$/m.exec(output) ?? [];
        if (url === undefined || !output.includes(`${url}\n`)) return;
        browsing ??= logIn(url, { ca, name: "jane" });
      };
      child.stdout.setEncoding("utf8").on("data", read);
      child.stderr.setEncoding("utf8").on("data", read);
      child.stdin.end("yes\n");
      const [status] = (await exit) as [number | null];
      await browsing;
      return { status, output };
    },
  };
}
