/** Mail servers, and the mail addresses that all servers accept. */

/** A mail server to which the service sends mail. */
export interface MailServer {
  host: string;
  port: number;
  /**
   * Whether TLS starts with the first byte; otherwise STARTTLS is used if the
   * server supports it.
   */
  secure: boolean;
  /** null if no password is needed. */
  login: { user: string; password: string } | null;
}

/** The sender of mails; the name may be "". */
export interface MailFrom {
  name: string;
  address: string;
}

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/;
const LABEL = /^[A-Za-z0-9-]{1,63}$/;
const LONGEST = 254;

/**
 * Whether a text is an address such as `orders@example.com`: in ASCII, without a
 * name, quotation marks or comments.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at === -1 || text.length > LONGEST) return false;
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split(".");
  return LOCAL.test(local) && !`.${local}.`.includes("..") &&
    labels.every((label) => LABEL.test(label) && !/^-|-$/.test(label));
}
