// A real OpenID provider, for tests: people log in through its forms, machines get JWTs for a resource.
//
// It takes a free port, says `oidc listens on http://…`, and lives until its standard input is closed. Besides what
// every provider has:
//
//   POST /test/rotate   new keys of every type instead of the old ones
//
// A secret here is no secret: everything is made anew at each start, on this machine only.

import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import Provider from 'oidc-provider';

const REDIRECT = 'http://127.0.0.1:9/callback';
// The same, of a whole gateway.
const GATEWAY = 'http://127.0.0.1:9/api/v1/auth/oidc/callback';
const SIGNED_WITH = ['RS256', 'PS256', 'ES256', 'EdDSA'];

const server = createServer((request, response) => answer(request, response));
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const issuer = `http://127.0.0.1:${server.address().port}`;
let provider = newProvider();

function answer(request, response) {
  if (request.method === 'POST' && request.url === '/test/rotate') {
    provider = newProvider();
    response.end('rotated\n');
    return;
  }
  provider.callback()(request, response);
}

/** One private key of each type, named so that no two sets share a name. */
function newKeys() {
  const key = (type, options, alg) => {
    const { privateKey } = generateKeyPairSync(type, options);
    return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg, kid: `${alg}-${randomUUID()}` };
  };
  return [
    key('rsa', { modulusLength: 2048 }, 'RS256'),
    key('rsa', { modulusLength: 2048 }, 'PS256'),
    key('ec', { namedCurve: 'P-256' }, 'ES256'),
    key('ed25519', {}, 'EdDSA'),
  ];
}

/** A client for people: `punk-RS256` and so on, each known to the token endpoint in another way. */
function personClient(alg, token_endpoint_auth_method) {
  return {
    client_id: `punk-${alg}`,
    client_secret: token_endpoint_auth_method === 'none' ? undefined : `the secret: of ${alg} & more`,
    token_endpoint_auth_method,
    redirect_uris: [REDIRECT, GATEWAY],
    response_types: ['code'],
    grant_types: ['authorization_code'],
    id_token_signed_response_alg: alg,
  };
}

function newProvider() {
  const made = new Provider(issuer, {
    jwks: { keys: newKeys() },
    cookies: { keys: [randomUUID()] },
    clients: [
      personClient('RS256', 'client_secret_basic'),
      personClient('PS256', 'client_secret_post'),
      personClient('ES256', 'client_secret_post'),
      personClient('EdDSA', 'none'),
      {
        client_id: 'robot',
        client_secret: 'the secret of the robot',
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // The claims come with the ID token, not only from the userinfo endpoint.
    conformIdTokenClaims: false,
    enabledJWA: { idTokenSigningAlgValues: SIGNED_WITH },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: id !== 'unverified', name: `The ${id}` }),
    }),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      // `https://api.example/ES256` is a resource whose tokens are signed with ES256.
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: 'run:read run:write',
          audience: resource,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: resource.split('/').pop() } },
        }),
      },
    },
    extraTokenClaims: () => ({ org: 'acme', groups: ['admins', 'strangers'] }),
    ttl: { AccessToken: 600, AuthorizationCode: 60, ClientCredentials: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
  made.on('server_error', (_context, error) => console.error(error));
  return made;
}

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
console.log(`oidc listens on ${issuer}`);
