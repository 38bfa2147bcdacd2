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
use OpenAPI\Client\Model\ProductQuantity;
use OpenAPI\Client\Model\UploadProductsRequest;

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
        'quantity' => new ProductQuantity(['value' => 12]),
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
try {
    $seller->uploadProducts(request('A', 'A'));
} catch (ApiException $refused) {
    $error = $refused->getResponseObject()->getError();
    [$detail] = $error->getDetails();
    echo "{$error->getCode()} {$detail->getPointer()} {$detail->getCode()}\n";
}
