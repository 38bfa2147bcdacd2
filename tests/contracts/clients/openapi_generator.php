<?php
// The client that openapi-generator generates for PHP, on a running service.
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    $path = str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $class);
    $file = "client/lib/$path.php";
    if (is_file($file)) require $file;
});

use OpenAPI\Client\Api\SellerApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\Product;
use OpenAPI\Client\Model\ProductPrice;
use OpenAPI\Client\Model\ProductAttributes;
use OpenAPI\Client\Model\QuantityChange;
use OpenAPI\Client\Model\UploadAttributesRequest;
use OpenAPI\Client\Model\UploadProductsRequest;
use OpenAPI\Client\ObjectSerializer;

[, $url, $key] = $argv;
$configuration = (new Configuration())->setHost($url)
    ->setApiKey('X-Service-Auth', $key);
// Otherwise it writes 0 and 1 for booleans.
Configuration::getDefaultConfiguration()->setBooleanFormatForQueryString(
    Configuration::BOOLEAN_FORMAT_STRING
);
$seller = new SellerApi(null, $configuration);

function product(string $sku): Product
{
    return new Product([
        'sku' => $sku,
        'title' => 'Mug',
        'price' => new ProductPrice(['amount' => '149.00', 'currency' => 'SEK']),
        'quantity' => 12,
    ]);
}

function request(string ...$skus): UploadProductsRequest
{
    $products = array_map(product(...), $skus);
    return new UploadProductsRequest(['products' => $products]);
}

$skus = array_map(fn ($n) => sprintf('SKU-%03d', $n), range(0, 249));
$uploaded = $seller->uploadProducts(request(...$skus));
$status = $seller->getTransaction($uploaded->getTransactionId(), 20)
    ->getTransaction();
echo $status->getStatus(), ' ', $status->getProducts()->getCreated(), "\n";
$listed = 0;
$next = null;
do {
    $page = $seller->listProducts($next, 100);
    $listed += count($page->getProducts());
    $next = $page->getNext();
} while ($next !== null);
echo $listed, "\n";
// What was read is sent again, then one is sold.
$read = array_map(
    fn ($one) => ObjectSerializer::deserialize(
        ObjectSerializer::sanitizeForSerialization($one),
        Product::class
    ),
    $page->getProducts()
);
$again = $seller->uploadProducts(
    new UploadProductsRequest(['products' => $read])
);
echo $seller->getTransaction($again->getTransactionId())
    ->getTransaction()->getProducts()->getUnchanged(), "\n";
$sold = new ProductAttributes([
    'sku' => 'SKU-000',
    'quantity' => new QuantityChange(['change' => -1]),
]);
$seller->uploadAttributes(new UploadAttributesRequest(['products' => [$sold]]));
echo $seller->getProduct('SKU-000')->getProduct()->getQuantity(), "\n";
try {
    $seller->uploadProducts(request('A', 'A'));
} catch (ApiException $refused) {
    $error = $refused->getResponseObject()->getError();
    [$detail] = $error->getDetails();
    echo "{$error->getCode()} {$detail->getPointer()} {$detail->getCode()}\n";
}
