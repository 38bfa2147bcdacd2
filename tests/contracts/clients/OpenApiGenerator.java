// The client that openapi-generator generates for Java, on a running service.
import java.net.http.HttpClient;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.SellerApi;
import org.openapitools.client.model.ErrorAnswer;
import org.openapitools.client.model.Product;
import org.openapitools.client.model.ProductPrice;
import org.openapitools.client.model.ProductAttributes;
import org.openapitools.client.model.ProductAttributesQuantity;
import org.openapitools.client.model.QuantityChange;
import org.openapitools.client.model.UploadAttributesRequest;
import org.openapitools.client.model.ProductsAnswer;
import org.openapitools.client.model.UploadProductsRequest;

final class OpenApiGenerator {
  static Product product(String sku) {
    return new Product()
        .sku(sku)
        .title("Mug")
        .price(new ProductPrice().amount("149.00").currency("SEK"))
        .quantity(12);
  }

  static UploadProductsRequest request(Stream<String> skus) {
    List<Product> products = skus.map(OpenApiGenerator::product).toList();
    return new UploadProductsRequest().products(products);
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    // Otherwise it asks for an upgrade to HTTP/2, which is 400 with a body.
    client.setHttpClientBuilder(
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1));
    client.updateBaseUri(arguments[0]);
    client.setRequestInterceptor(request -> request
        .setHeader("X-Service-Auth", arguments[1])
        // It accepts JSON and XML alike, which asks for XML.
        .setHeader("Accept", "application/json"));
    SellerApi seller = new SellerApi(client);
    var skus = IntStream.range(0, 250).mapToObj(n -> "SKU-%03d".formatted(n));
    var uploaded = seller
        .uploadProducts(request(skus), null, null, null, null, null);
    var status = seller.getTransaction(uploaded.getTransactionId(), 20, null)
        .getTransaction();
    System.out.println(
        status.getStatus() + " " + status.getProducts().getCreated());
    int listed = 0;
    String next = null;
    ProductsAnswer page;
    do {
      page = seller.listProducts(next, 100, null, null, null, null, null, null);
      listed += page.getProducts().size();
      next = page.getNext();
    } while (next != null);
    System.out.println(listed);
    // What was read is sent again, then one is sold.
    var mapper = client.getObjectMapper();
    var read = page.getProducts().stream()
        .map(one -> mapper.convertValue(one, Product.class)).toList();
    var again = seller.uploadProducts(
        new UploadProductsRequest().products(read), null, null, null, null, null);
    System.out.println(seller.getTransaction(again.getTransactionId(), null, null)
        .getTransaction().getProducts().getUnchanged());
    var change = new ProductAttributesQuantity(new QuantityChange().change(-1));
    var sold = new ProductAttributes().sku("SKU-000").quantity(change);
    seller.uploadAttributes(new UploadAttributesRequest().products(List.of(sold)),
        null, null, null, null, null, null, null);
    System.out.println(
        seller.getProduct("SKU-000").getProduct().getQuantity());
    try {
      seller.uploadProducts(
          request(Stream.of("A", "A")), null, null, null, null, null);
    } catch (ApiException refused) {
      var error = client.getObjectMapper()
          .readValue(refused.getResponseBody(), ErrorAnswer.class).getError();
      var detail = error.getDetails().get(0);
      System.out.println(
          error.getCode() + " " + detail.getPointer() + " " + detail.getCode());
    }
  }
}
