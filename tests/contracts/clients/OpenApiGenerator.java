// The client that openapi-generator generates for Java, on a running service.
import java.net.http.HttpClient;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.OperatorApi;
import org.openapitools.client.api.SellerApi;
import org.openapitools.client.model.ErrorAnswer;
import org.openapitools.client.model.IngestEventRequest;
import org.openapitools.client.model.Product;
import org.openapitools.client.model.ProductAttributes;
import org.openapitools.client.model.ProductAttributesQuantity;
import org.openapitools.client.model.ProductPrice;
import org.openapitools.client.model.ProductsAnswer;
import org.openapitools.client.model.QuantityChange;
import org.openapitools.client.model.Transaction;
import org.openapitools.client.model.UploadAttributesRequest;
import org.openapitools.client.model.UploadProductsRequest;

final class OpenApiGenerator {
  static Product product(String sku) {
    return new Product()
        .sku(sku)
        .title("Mug")
        .price(new ProductPrice().amount("149.00").currency("SEK"))
        .quantity(12);
  }

  static UUID upload(SellerApi seller, List<Product> products)
      throws ApiException {
    var request = new UploadProductsRequest().products(products);
    return seller.uploadProducts(request, null, null, null, null, null, null)
        .getTransactionId();
  }

  static List<Product> named(Stream<String> skus) {
    return skus.map(OpenApiGenerator::product).toList();
  }

  static Transaction status(SellerApi seller, UUID id) throws ApiException {
    return seller.getTransaction(id, 20, null).getTransaction();
  }

  static ApiClient client(String url, String key) {
    ApiClient client = new ApiClient();
    // Otherwise it asks for an upgrade to HTTP/2, which is 400 with a body.
    client.setHttpClientBuilder(
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1));
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> {
      request.setHeader("X-Service-Auth", key);
      // It accepts JSON and XML alike, which asks for XML without a body.
      if (request.copy().build().method().equals("GET")) {
        request.setHeader("Accept", "application/json");
      }
    });
    return client;
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = client(arguments[0], arguments[1]);
    SellerApi seller = new SellerApi(client);
    var skus = IntStream.range(0, 250).mapToObj(n -> "SKU-%03d".formatted(n));
    var status = status(seller, upload(seller, named(skus)));
    System.out.println(
        status.getStatus() + " " + status.getProducts().getCreated());
    int listed = 0;
    String next = null;
    ProductsAnswer page;
    do {
      page = seller.listProducts(
          next, 100, null, null, null, null, null, null, null, null);
      listed += page.getProducts().size();
      next = page.getNext();
    } while (next != null);
    System.out.println(listed);
    // What was read is sent again, then one is sold.
    var mapper = client.getObjectMapper();
    var read = page.getProducts().stream()
        .map(one -> mapper.convertValue(one, Product.class)).toList();
    var again = status(seller, upload(seller, read));
    System.out.println(again.getProducts().getUnchanged());
    var change = new ProductAttributesQuantity(new QuantityChange().change(-1));
    var sold = new ProductAttributes().sku("SKU-000").quantity(change);
    seller.uploadAttributes(
        new UploadAttributesRequest().products(List.of(sold)),
        null, null, null, null, null, null, null, null);
    System.out.println(
        seller.getProduct("SKU-000").getProduct().getQuantity());
    try {
      upload(seller, named(Stream.of("A", "A")));
    } catch (ApiException refused) {
      var error = mapper
          .readValue(refused.getResponseBody(), ErrorAnswer.class).getError();
      var detail = error.getDetails().get(0);
      System.out.println(
          error.getCode() + " " + detail.getPointer() + " " + detail.getCode());
    }
    // An event's data arrive as they were sent.
    String data = "{\"lines\": [{\"quantity\": 7}], \"notes\": [], "
        + "\"paid\": true, \"total\": \"7.50\"}";
    new OperatorApi(client(arguments[0], arguments[2])).ingestEvent(
        new IngestEventRequest()
            .seller("acme")
            .trigger(IngestEventRequest.TriggerEnum.ORDER_CREATED)
            .reference("1001")
            .data(mapper.readValue(data, Object.class)));
    var event = seller.listEvents(null, null, null, "1001", null, null)
        .getEvents().get(0);
    var isSame = mapper.valueToTree(event.getData())
        .equals(mapper.readTree(data));
    System.out.println(isSame ? data : mapper.writeValueAsString(event));
  }
}
