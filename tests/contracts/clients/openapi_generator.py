"""The client that openapi-generator generates for Python, on a running service."""

import json
import sys

import openapi_client as api

url, key, operator_key = sys.argv[1:]
configuration = api.Configuration(
    host=url, api_key={"seller": key, "operator": operator_key}
)
seller = api.SellerApi(api.ApiClient(configuration))
operator = api.OperatorApi(api.ApiClient(configuration))


def product(sku):
    return api.Product(
        sku=sku,
        title="Mug",
        price=api.ProductPrice(amount="149.00", currency="SEK"),
        quantity=12,
    )


def send(products):
    return seller.upload_products(api.UploadProductsRequest(products=products))


def upload(skus):
    return send([product(sku) for sku in skus])


uploaded = upload(f"SKU-{n:03}" for n in range(250))
status = seller.get_transaction(uploaded.transaction_id, wait=20).transaction
print(status.status, status.products.created)
listed, page = 0, seller.list_products(limit=100)
while True:
    listed += len(page.products)
    if not page.next:
        break
    page = seller.list_products(limit=100, after=page.next)
print(listed)
# What was read is sent again, then one is sold.
read = [api.Product.from_dict(one.to_dict()) for one in page.products]
again = seller.get_transaction(send(read).transaction_id).transaction
print(again.products.unchanged)
sold = api.ProductAttributes.from_dict(
    {"sku": "SKU-000", "quantity": {"change": -1}}
)
seller.upload_attributes(api.UploadAttributesRequest(products=[sold]))
print(seller.get_product("SKU-000").product.quantity)
try:
    upload(["A", "A"])
except api.exceptions.UnprocessableEntityException as refused:
    [detail, *_] = refused.data.error.details
    print(refused.data.error.code, detail.pointer, detail.code)
# An event's data arrive as they were sent.
data = {"lines": [{"quantity": 7}], "notes": [], "total": "7.50", "paid": True}
operator.ingest_event(
    api.IngestEventRequest(
        seller="acme", trigger="order_created", reference="1001", data=data
    )
)
[event] = seller.list_events(reference="1001").events
print(json.dumps(event.data, sort_keys=True))
