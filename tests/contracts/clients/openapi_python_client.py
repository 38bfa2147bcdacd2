"""The client that openapi-python-client generates, on a running service."""

import json
import sys

from seller_interface_client import AuthenticatedClient
from seller_interface_client.api.operator import ingest_event
from seller_interface_client.api.seller import (
    get_product,
    get_transaction,
    list_events,
    list_products,
    upload_attributes,
    upload_products,
)
from seller_interface_client.models import (
    IngestEventJsonBody,
    IngestEventJsonBodyTrigger,
    Product,
    ProductAttributes,
    ProductAttributesQuantityChange,
    ProductPrice,
    UploadAttributesJsonBody,
    UploadProductsJsonBody,
)

url, key, operator_key = sys.argv[1:]


def client_of(key, headers):
    return AuthenticatedClient(
        base_url=url,
        token=key,
        prefix="",
        auth_header_name="X-Service-Auth",
        headers=headers,
        timeout=60,
    )


# It sends "*/*" by itself, which asks for XML where the request has no body.
client = client_of(key, {"Accept": "application/json"})
# A JSON body is answered in JSON.
sender = client_of(key, {})
operator = client_of(operator_key, {})


def product(sku):
    return Product(
        sku=sku,
        title="Mug",
        price=ProductPrice(amount="149.00", currency="SEK"),
        quantity=12,
    )


def send(products):
    body = UploadProductsJsonBody(products=products)
    return upload_products.sync(client=sender, body=body)


def upload(skus):
    return send([product(sku) for sku in skus])


uploaded = upload(f"SKU-{n:03}" for n in range(250))
status = get_transaction.sync(uploaded.transaction_id, client=client, wait=20)
print(status.transaction.status, status.transaction.products.created)
listed, page = 0, list_products.sync(client=client, limit=100)
while True:
    listed += len(page.products)
    if not page.next_:
        break
    page = list_products.sync(client=client, limit=100, after=page.next_)
print(listed)
# What was read is sent again, then one is sold.
read = [Product.from_dict(one.to_dict()) for one in page.products]
again = get_transaction.sync(send(read).transaction_id, client=client)
print(again.transaction.products.unchanged)
sold = ProductAttributes(
    sku="SKU-000", quantity=ProductAttributesQuantityChange(change=-1)
)
upload_attributes.sync(client=sender, body=UploadAttributesJsonBody([sold]))
print(get_product.sync("SKU-000", client=client).product.quantity)
refused = upload(["A", "A"]).error
print(refused.code, refused.details[0].pointer, refused.details[0].code)
# An event's data arrive as they were sent.
data = {"lines": [{"quantity": 7}], "notes": [], "total": "7.50", "paid": True}
ingest_event.sync(
    client=operator,
    body=IngestEventJsonBody(
        seller="acme",
        trigger=IngestEventJsonBodyTrigger.ORDER_CREATED,
        reference="1001",
        data=data,
    ),
)
[event] = list_events.sync(client=client, reference="1001").events
print(json.dumps(event.data, sort_keys=True))
