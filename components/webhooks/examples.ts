export type ExampleLanguage = 'curl' | 'node' | 'python';
export const exampleLanguages: readonly { value: ExampleLanguage; label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'node', label: 'Node' },
  { value: 'python', label: 'Python' },
];

type Sender = { url: string; secret: string; token: string };

/**
 * Returns a program that signs and sends a delivery. Its first lines set the URL, the signing secret and the token. It sends the timestamp,
 * so that it works whether the webhook requires one or not. It needs only the language itself (curl: also openssl).
 */
export function exampleFor(language: ExampleLanguage, sender: Sender): string {
  switch (language) {
    case 'curl':
      return curlExample(sender);
    case 'node':
      return nodeExample(sender);
    case 'python':
      return pythonExample(sender);
  }
}

function curlExample({ url, secret, token }: Sender): string {
  return `WEBHOOK_URL='${url}'
WEBHOOK_SECRET='${secret}'
BATON_TOKEN='${token}'

BODY='{"order": 1042, "customer": "ada@example.com"}'
TIMESTAMP=$(date +%s)
SIGNATURE=$(printf '%s' "$TIMESTAMP.$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.*= *//')

curl -sS -X POST "$WEBHOOK_URL" \\
  -H 'Content-Type: application/json' \\
  -H "Authorization: Bearer $BATON_TOKEN" \\
  -H "X-Service-Timestamp: $TIMESTAMP" \\
  -H "X-Service-Signature: sha256=$SIGNATURE" \\
  -H "Idempotency-Key: order-1042" \\
  --data-binary "$BODY"
`;
}

function nodeExample({ url, secret, token }: Sender): string {
  return `import { createHmac } from 'node:crypto';

const url = '${url}';
const secret = '${secret}';
const token = '${token}';

// The signed text must be the text that is sent: serializing twice need not give the same bytes.
const body = JSON.stringify({ order: 1042, customer: 'ada@example.com' });
const timestamp = Math.floor(Date.now() / 1000).toString();
const signature = createHmac('sha256', secret).update(\`\${timestamp}.\${body}\`).digest('hex');

const response = await fetch(url, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    Authorization: \`Bearer \${token}\`,
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': \`sha256=\${signature}\`,
    'Idempotency-Key': 'order-1042',
  },
  body,
});
console.log(response.status, await response.text());
`;
}

function pythonExample({ url, secret, token }: Sender): string {
  return `import hashlib, hmac, json, time, urllib.request

url = "${url}"
secret = "${secret}"
token = "${token}"

# Sign the very bytes that are sent: JSON written twice need not be the same.
body = json.dumps({"order": 1042, "customer": "ada@example.com"}).encode()
timestamp = str(int(time.time()))
signature = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()

request = urllib.request.Request(url, data=body, method="POST", headers={
    "Content-Type": "application/json",
    "Authorization": f"Bearer {token}",
    "X-Service-Timestamp": timestamp,
    "X-Service-Signature": f"sha256={signature}",
    "Idempotency-Key": "order-1042",
})
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())
`;
}
