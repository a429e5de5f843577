import { formatNewToken } from "../../commands/operate/token.ts";

export function newToken(
  name: string,
  { expires }: { readonly expires?: string },
): void {
  process.stdout.write(formatNewToken(name, expires));
}
