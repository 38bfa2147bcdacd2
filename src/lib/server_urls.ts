const AUTHORITY = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/;

/**
 * The URLs of the servers that a `postgres://` URL names as libpq's do, with
 * several hosts: `postgres://user@a:1,b:2/database`. Null if it is no such URL.
 */
export function serverUrls(text: string): URL[] | null {
  const parts = AUTHORITY.exec(text);
  if (parts === null) return null;
  const [, scheme, user, hosts, rest] = parts;
  const urls = hosts.split(",")
    .map((host) => URL.parse(scheme + user + host + rest));
  return urls.every((url) => url !== null) ? urls : null;
}
