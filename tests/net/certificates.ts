/**
 * An authority of our own, and a host it certifies as `images.test` and
 * 127.0.0.1. Known to everybody, so good for tests only. Valid 2020 to 2120.
 * Made with this, in a folder of its own:
 *
 * ```sh
 * cat > ca.cnf <<END
 * [ca]
 * default_ca=d
 * [d]
 * database=index
 * serial=serial
 * new_certs_dir=.
 * default_md=sha256
 * policy=p
 * [p]
 * commonName=supplied
 * [authority]
 * basicConstraints=critical,CA:TRUE
 * keyUsage=critical,keyCertSign
 * [host]
 * subjectAltName=DNS:images.test,IP:127.0.0.1
 * extendedKeyUsage=serverAuth
 * END
 * touch index; echo 01 > serial
 * new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
 *   -keyout $1.key -out $1.csr -subj "/CN=$2"; }
 * sign() { openssl ca -batch -notext -config ca.cnf -keyfile authority.key \
 *   -startdate 20200101000000Z -enddate 21200101000000Z \
 *   -in $1.csr -out $1.pem -extensions $1 "${@:2}"; }
 * new authority "Test authority"; sign authority -selfsign
 * new host images.test; sign host -cert authority.pem
 * ```
 */

export const AUTHORITY = `\
-----BEGIN CERTIFICATE-----
MIIBZTCCAQugAwIBAgIBATAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5UZXN0IGF1
dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGTEXMBUG
A1UEAwwOVGVzdCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ4
wTScUFlLIhf53+S/kqaZwmpu4axrAJ+9XPGDmUSyrDTpceoNwvDra6WlYlLFggYq
U4tQslCEVqsrqzJQKD6qo0IwQDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQE
AwICBDAdBgNVHQ4EFgQUw/IXyw20JTyp71yaE+UuxA3Vv9MwCgYIKoZIzj0EAwID
SAAwRQIhAPfxIVW+9ciECZX3OzJgxOOdmLA7WdwkB4TJ9yfYjCwcAiBuU14h9lNL
6ze8GgyatjTt310V6mNVgIHZmHa0opYVHA==
-----END CERTIFICATE-----
`;

export const CERTIFICATE = `\
-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIBAjAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5UZXN0IGF1
dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIG
A1UEAwwLaW1hZ2VzLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS7C3Ae
qsh4biCSzExSwpAOKjVWtn/o52/Hu8rG3vB1NH7+SWSqhTPRstbb9xxVf/vSWuNn
rFnX7gKJaxAs6ZwXo3UwczAcBgNVHREEFTATggtpbWFnZXMudGVzdIcEfwAAATAT
BgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQU6xoHlktpqKlxcppDCzmm5T9T
tZowHwYDVR0jBBgwFoAUw/IXyw20JTyp71yaE+UuxA3Vv9MwCgYIKoZIzj0EAwID
SAAwRQIgQxA9XIkrSxC0Zr+AxAocCusRDIO9nPaE6Pgu3O7qNOICIQDqkpaQx7Xg
dmNf+ik8EA/y0iAbZ0ddKKXRMejwns1fGA==
-----END CERTIFICATE-----
`;

export const PRIVATE_KEY = `\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjiyc2d3553Uc9Iv/
QhKgAEQmBDi5ivxENJz9elBhkmuhRANCAAS7C3Aeqsh4biCSzExSwpAOKjVWtn/o
52/Hu8rG3vB1NH7+SWSqhTPRstbb9xxVf/vSWuNnrFnX7gKJaxAs6ZwX
-----END PRIVATE KEY-----
`;
