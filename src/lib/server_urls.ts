const SCHEME = /^postgres(?:ql)?:\/\//;

/**
 * The URLs of the servers in a `postgres://` URL, which may have several hosts
 * as in libpq: `postgres://user@a:1,b:2/database`. Null if it is not such a
 * URL.
 */
export function serverUrls(text: string): URL[] | null {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined) return null;
  const [authority] = text.slice(scheme.length).split(/[/?#]/, 1);
  const rest = text.slice(scheme.length + authority.length);
  const hostsAt = authority.lastIndexOf("@") + 1;
  const user = authority.slice(0, hostsAt);
  const urls = authority.slice(hostsAt).split(",")
    .map((host) => URL.parse(scheme + user + host + rest));
  return urls.every((url) => url !== null) ? urls : null;
}
