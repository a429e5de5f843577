import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { Agent } from "node:https";
import { join } from "node:path";
import { endingWithTests } from "../child-process.ts";
import { fetchFrom } from "../running-mirror.ts";
import { runClient, type Client, type ClientOptions } from "./clients.ts";

/** A client's home below the directory, where `login` leaves the token that `init` sends. */
export async function moveIn(
  client: Client,
  { directory, cliConfig, caFile }: ClientOptions,
) {
  const home = join(directory, ".home");
  await mkdir(join(home, ".terraform.d"), { recursive: true });
  for (const name of [".terraformrc", ".tofurc"])
    await writeFile(join(home, name), cliConfig);
  return {
    init: () =>
      runClient(client, ["init", "-no-color"], {
        ...{ directory, caFile, cliConfig: "" },
        env: { TF_CLI_CONFIG_FILE: "" },
      }),
    /** `login HOST` with "yes" on standard input, and somebody who opens the URL that it prints. */
    login: async (mirrorUrl: string, ca: string): Promise<string> => {
      const args = ["login", "-no-color", new URL(mirrorUrl).host];
      const child = spawn(...endingWithTests(client.binary, args), {
        cwd: home,
        env: {
          ...{ PATH: "/nowhere", HOME: home, CHECKPOINT_DISABLE: "1" },
          ...{ SSL_CERT_FILE: caFile, SSL_CERT_DIR: home },
        },
      });
      const exit = once(child, "exit");
      let output = "";
      let visit: Promise<unknown> | undefined;
      const read = (text: string) => {
        output += text;
        const [, url] = /^\s*(https:\S+\/authorize\?\S+)\n/m.exec(output) ?? [];
        if (url !== undefined) visit ??= logIn(new URL(url), ca);
      };
      child.stdout.setEncoding("utf8").on("data", read);
      child.stderr.setEncoding("utf8").on("data", read);
      child.stdin.end("yes\n");
      await exit;
      await visit;
      return output;
    },
  };
}

async function logIn(url: URL, ca: string): Promise<void> {
  const { headers } = await fetchFrom(url, new Agent({ ca }), {});
  // Clients close their server as soon as they have the code, often before they have answered.
  const sent = get(String(headers.location), (answer) => answer.resume());
  await once(sent, "close").catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ECONNRESET") throw error;
  });
}
